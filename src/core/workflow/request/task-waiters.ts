import { injectable } from 'inversify';
import { Batches } from '../../db/batches';
import { Database } from '../../db/database';
import { TaskRequestRepository } from '../storage/task-request.repository';
import type { TaskState } from '../definition/task-state';

const channel = 'task_settled';
const settledStates: readonly TaskState[] = ['succeeded', 'failed', 'cancelled', 'stuck'];
/** A notification's payload is limited to 8,000 bytes. */
const idsPerNotification = 200;
/** Announcements within this time share one statement. Milliseconds. */
const gatherMs = 20;
/** In case a notification was lost with the process that owed it. Milliseconds. */
const recheckMs = 2_000;

type Waiter = (state: TaskState | undefined) => void;

/** Who waits for the end of a task, in this process or another. */
@injectable()
export class TaskWaiters {
  private readonly waiters = new Map<string, Set<Waiter>>();
  private pending: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private listening: Promise<() => Promise<void>> | undefined;
  /** Many look at once, each before it waits. */
  private readonly states: Batches<string, TaskState | undefined>;

  constructor(
    private readonly database: Database,
    private readonly requests: TaskRequestRepository,
  ) {
    this.states = new Batches((ids) => requests.states(ids), 0);
  }

  /** A task of this process settled: wakes local waiters at once and tells other processes soon. */
  settled(taskId: string, state: TaskState): void {
    this.wake(taskId, state);
    this.pending.push(taskId);
    this.timer ??= setTimeout(() => void this.notify(), gatherMs);
  }

  /**
   * The task's state once it is settled, or its present one after `timeoutMs`. Throws when there is no such task.
   * @param first looks at its state instead of us, the first time: it is asked once nothing can be missed any more
   */
  async wait(taskId: string, timeoutMs: number, first?: () => Promise<TaskState>): Promise<TaskState> {
    const end = performance.now() + timeoutMs;
    let look: () => Promise<TaskState | undefined> = first ?? (() => this.states.add(taskId));
    await this.listen();
    for (;;) {
      let known: TaskState | undefined;
      let notice: () => void = () => undefined;
      const noticed = new Promise<void>((resolve) => (notice = resolve));
      const waiter: Waiter = (state) => {
        known = state;
        notice();
      };
      this.add(taskId, waiter);
      try {
        const state = await look();
        look = () => this.states.add(taskId);
        if (state === undefined) throw new Error(`there is no task ${taskId}`);
        const left = end - performance.now();
        if (settledStates.includes(state) || left <= 0) return state;
        await this.either(noticed, Math.min(left, recheckMs));
        if (known !== undefined) return known;
      } finally {
        this.remove(taskId, waiter);
      }
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    await this.notify();
    const stop = await this.listening?.catch(() => undefined);
    this.listening = undefined;
    await stop?.();
  }

  private async listen(): Promise<void> {
    this.listening ??= this.database.listen(channel, (payload) => {
      const ids = payload === null ? [...this.waiters.keys()] : payload.split(',');
      for (const id of ids) this.wake(id, undefined);
    });
    await this.listening.catch(() => (this.listening = undefined));
  }

  private async either(noticed: Promise<void>, ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
    await Promise.race([noticed, late]);
    clearTimeout(timer);
  }

  private wake(taskId: string, state: TaskState | undefined): void {
    for (const waiter of [...(this.waiters.get(taskId) ?? [])]) waiter(state);
  }

  private async notify(): Promise<void> {
    this.timer = undefined;
    const ids = this.pending;
    this.pending = [];
    for (let i = 0; i < ids.length; i += idsPerNotification) {
      await this.requests.notify(channel, ids.slice(i, i + idsPerNotification).join(',')).catch(() => undefined);
    }
  }

  private add(taskId: string, waiter: Waiter): void {
    const set = this.waiters.get(taskId) ?? new Set<Waiter>();
    set.add(waiter);
    this.waiters.set(taskId, set);
  }

  private remove(taskId: string, waiter: Waiter): void {
    const set = this.waiters.get(taskId);
    set?.delete(waiter);
    if (set?.size === 0) this.waiters.delete(taskId);
  }
}
