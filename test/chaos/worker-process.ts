import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Order, Report, Trap } from './messages';
import type { WorkflowShape } from './plan';

/** One management process under the test's orders. It begins without taking tasks. */
export class WorkerProcess {
  workflows: WorkflowShape[] = [];
  private readonly reached = new Set<string>();
  private readonly waiting = new Set<() => void>();
  private idle = false;

  private constructor(
    private readonly child: ChildProcess,
    private readonly log: string,
  ) {
    child.on('message', (message) => this.take(message as Report));
    child.on('exit', () => this.look());
    child.on('error', () => this.look());
  }

  /** Resolves once it serves. */
  static async start(log: string, env: Record<string, string>): Promise<WorkerProcess> {
    const out = openSync(log, 'a');
    const child = spawn(process.execPath, ['--enable-source-maps', join(__dirname, 'worker.js')], {
      stdio: ['ignore', out, out, 'ipc'],
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    });
    closeSync(out);
    const worker = new WorkerProcess(child, log);
    try {
      await worker.until('its start', 60_000, () => worker.workflows.length > 0);
      return worker;
    } catch (error) {
      // It would still come, and have the ports of the next one.
      await worker.kill();
      throw error;
    }
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  send(order: Order): void {
    if (this.alive) this.child.send(order);
  }

  trap(...traps: Trap[]): void {
    this.send({ traps });
  }

  /** Resolves when the worker stands at the trap of each of these tasks. */
  async standsAt(taskIds: readonly string[], timeoutMs: number): Promise<void> {
    await this.until('its boundary', timeoutMs, () => taskIds.every((id) => this.reached.has(id)));
  }

  has(taskId: string): boolean {
    return this.reached.has(taskId);
  }

  forget(): void {
    this.reached.clear();
  }

  async whenIdle(timeoutMs: number): Promise<void> {
    this.idle = false;
    this.send({ whenIdle: true });
    await this.until('its rest', timeoutMs, () => this.idle);
  }

  signal(signal: NodeJS.Signals): void {
    if (this.alive) this.child.kill(signal);
  }

  async kill(): Promise<void> {
    if (!this.alive) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }

  tail(lines = 12): string {
    return readFileSync(this.log, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  }

  private take(message: Report): void {
    if (message.kind === 'started') this.workflows = message.workflows;
    else if (message.kind === 'reached') this.reached.add(message.taskId);
    else this.idle = true;
    this.look();
  }

  private look(): void {
    for (const check of [...this.waiting]) check();
  }

  private until(what: string, timeoutMs: number, done: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (finish: () => void): void => {
        clearTimeout(timer);
        this.waiting.delete(check);
        finish();
      };
      const check = (): void => {
        if (done()) end(resolve);
        else if (!this.alive) end(() => reject(new Error(`the worker ended before ${what}:\n${this.tail()}`)));
      };
      const timer = setTimeout(
        () => end(() => reject(new Error(`the worker did not come to ${what} within ${timeoutMs} ms`))),
        timeoutMs,
      );
      this.waiting.add(check);
      check();
    });
  }
}
