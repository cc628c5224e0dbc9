import { execFileSync, spawn, type ChildProcess } from 'node:child_process';

export const sh = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** Network namespaces of one test, named by a prefix, and gone again at the end whatever happened. */
export class TestNamespaces {
  private readonly names: string[] = [];

  constructor(readonly prefix: string) {
    this.sweep();
  }

  add(name: string): string {
    const full = `${this.prefix}-${name}`;
    sh('ip', 'netns', 'add', full);
    this.names.push(full);
    sh('ip', '-n', full, 'link', 'set', 'lo', 'up');
    return full;
  }

  /** Joins a namespace to the bridge of another one, with this address (CIDR). */
  join(name: string, bridgeNamespace: string, bridge: string, address: string): void {
    const short = name.slice(-8);
    sh('ip', '-n', name, 'link', 'add', 'up0', 'type', 'veth', 'peer', 'name', `p-${short}`, 'netns', bridgeNamespace);
    sh('ip', '-n', bridgeNamespace, 'link', 'set', `p-${short}`, 'master', bridge, 'up');
    sh('ip', '-n', name, 'addr', 'add', address, 'dev', 'up0');
    sh('ip', '-n', name, 'link', 'set', 'up0', 'up');
  }

  run(name: string, program: string, ...args: string[]): string {
    return sh('ip', 'netns', 'exec', name, program, ...args);
  }

  spawn(name: string, program: string, args: string[]): ChildProcess {
    return spawn('ip', ['netns', 'exec', name, program, ...args], { stdio: 'ignore' });
  }

  /** Removes what an earlier, killed run of the same test left. */
  private sweep(): void {
    for (const line of sh('ip', 'netns', 'list').split('\n')) {
      const name = line.split(' ')[0] ?? '';
      if (name.startsWith(`${this.prefix}-`)) sh('ip', 'netns', 'delete', name);
    }
  }

  close(): void {
    for (const name of this.names.reverse()) sh('ip', 'netns', 'delete', name);
    this.names.length = 0;
  }
}
