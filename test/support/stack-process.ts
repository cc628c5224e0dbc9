import { spawn, type ChildProcess } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './repository';

const vcStack = join(repositoryRoot, 'dist/src/main.js');

export interface StackProcessOptions {
  /** Default: `vc-stack`. */
  program?: string;
  role: 'management' | 'compute' | 'all' | 'purge';
  /** Namespace to run in; null for the test's own. */
  netns: string | null;
  /** Log and config of this process. */
  directory: string;
  name: string;
  env: Record<string, string>;
  args?: string[];
}

const startSeconds = 90 * Number(process.env['VC_STACK_TEST_PATIENCE'] ?? 1);

/** One `vc-stack` process from the build, as a user would start it. */
export class StackProcess {
  private child: ChildProcess | undefined;
  readonly log: string;

  constructor(private readonly options: StackProcessOptions) {
    this.log = join(options.directory, `${options.name}.log`);
  }

  /** For a command that ends by itself: rejects with the end of its log unless it ends with 0 within 90 s. */
  async complete(): Promise<void> {
    const child = this.spawn();
    const timer = setTimeout(() => child.kill('SIGKILL'), 90_000);
    const how = await new Promise<string | number>((done) =>
      child.once('exit', (code, signal) => done(signal ?? code ?? '?')),
    );
    clearTimeout(timer);
    if (how !== 0) throw new Error(`${this.options.name} ended with ${how}:\n${this.tail()}`);
  }

  /**
   * Resolves when the process says that it has started; rejects with the end of its log when it ends before or takes
   * over 90 s; `VC_STACK_TEST_PATIENCE` times as long where a whole host is emulated.
   */
  async start(): Promise<void> {
    const child = this.spawn();
    this.child = child;
    await new Promise<void>((done, fail) => {
      const timer = setTimeout(
        () => fail(new Error(`${this.options.name} did not start within ${startSeconds} s:\n${this.tail()}`)),
        startSeconds * 1000,
      );
      child.once('message', () => {
        clearTimeout(timer);
        done();
      });
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        fail(new Error(`${this.options.name} ended with ${signal ?? code ?? '?'}:\n${this.tail()}`));
      });
    });
    // The start channel has served; an open one would end with the test's process.
    child.disconnect();
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error(`${this.options.name} does not run`);
    return this.child.pid;
  }

  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Ends it with the signal and waits until it is gone. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((done) => child.once('exit', () => done()));
    child.kill(signal);
    const force = setTimeout(() => child.kill('SIGKILL'), 40_000);
    await gone;
    clearTimeout(force);
  }

  tail(lines = 25): string {
    try {
      return readFileSync(this.log, 'utf8').split('\n').slice(-lines).join('\n');
    } catch {
      return '';
    }
  }

  private spawn(): ChildProcess {
    const { program: script = vcStack, role, netns, env, args = [] } = this.options;
    const out = openSync(this.log, 'a');
    const node = [process.execPath, script, role, ...args];
    // Not `ip netns exec`: it would hide the namespaces that the agent makes from the next agent and from the test.
    const [program, argv] =
      netns === null ? [node[0] ?? '', node.slice(1)] : ['nsenter', [`--net=/run/netns/${netns}`, ...node]];
    return spawn(program, argv, {
      stdio: ['ignore', out, out, 'ipc'],
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    });
  }
}
