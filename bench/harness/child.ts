import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { cpuSecondsOf } from './processor-time';

export interface ChildOptions {
  /** File that its output goes to. */
  log: string;
  env?: Record<string, string>;
  /** Sent to it once it runs. */
  message?: unknown;
  startTimeoutMs?: number;
}

/** A Node process of ours that says `started` over IPC, and is ended for certain. */
export class Child {
  private constructor(
    private readonly process: ChildProcess,
    readonly log: string,
  ) {}

  static async start(script: string, args: readonly string[], options: ChildOptions): Promise<Child> {
    const { log, env = {}, message, startTimeoutMs = 120_000 } = options;
    const out = openSync(log, 'a');
    const profiles = process.env['VC_STACK_BENCH_PROFILES'];
    const node = profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`];
    const spawned = spawn(process.execPath, [...node, script, ...args], {
      stdio: ['ignore', out, out, 'ipc'],
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    });
    closeSync(out);
    const child = new Child(spawned, log);
    try {
      await new Promise<void>((done, fail) => {
        const timer = setTimeout(
          () => fail(new Error(`${script} did not start in time:\n${child.tail()}`)),
          startTimeoutMs,
        );
        spawned.once('message', () => {
          clearTimeout(timer);
          done();
        });
        spawned.once('exit', (code, signal) => {
          clearTimeout(timer);
          fail(new Error(`${script} ended with ${signal ?? code ?? '?'}:\n${child.tail()}`));
        });
        if (message !== undefined) spawned.send(message as object);
      });
    } catch (error) {
      await child.end('SIGKILL');
      throw error;
    }
    return child;
  }

  /** A message over IPC. */
  send(message: object): void {
    this.process.send(message);
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** Processor time that it has used, in seconds. */
  get cpuSeconds(): number {
    return cpuSecondsOf(this.pid);
  }

  /** Waits until it is gone, 40 s at most, then by force. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.process;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((done) => child.once('exit', () => done()));
    child.kill(signal);
    const force = setTimeout(() => child.kill('SIGKILL'), 40_000);
    await gone;
    clearTimeout(force);
  }

  tail(lines = 25): string {
    return readFileSync(this.log, 'utf8').split('\n').slice(-lines).join('\n');
  }
}
