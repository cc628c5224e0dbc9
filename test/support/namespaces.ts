import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { runTag, sweepableRuns } from './run-names';

export const sh = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** All network namespaces of this machine that have a name. */
export const namespacesNow = (): string[] =>
  sh('ip', 'netns', 'list')
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '');

/** Network namespaces of one run of a test, named by the test and the run, and gone again at the end whatever happened. */
export class TestNamespaces {
  readonly prefix: string;
  private readonly names: string[] = [];

  /** @param test the same for each run: what killed runs of it left is swept away */
  constructor(test: string) {
    this.prefix = `${test}-${runTag()}`;
    const now = namespacesNow();
    for (const pid of sweepableRuns(now, test))
      for (const name of now.filter((one) => one.startsWith(`${test}-${runTag(pid)}-`)))
        sh('ip', 'netns', 'delete', name);
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

  /** By its full name. */
  remove(full: string): void {
    sh('ip', 'netns', 'delete', full);
    this.names.splice(this.names.indexOf(full), 1);
  }

  close(): void {
    for (const name of this.names.reverse()) sh('ip', 'netns', 'delete', name);
    this.names.length = 0;
  }
}
