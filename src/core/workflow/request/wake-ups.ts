import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Database } from '../../db/database';
import type { Op } from '../../db/rows/op';
import { Logging } from '../../telemetry/logging';
import { TaskRequestRepository, type Worker } from '../storage/task-request.repository';
import type { ClaimedTask } from '../storage/task-row';
import type { Limit } from '../storage/interruptions';

export const wakeChannel = 'task_wake';

/** Freed slots are told together: at most one round of statements in so many milliseconds. */
const gatherMs = 50;

/** What claims and runs tasks in this process. */
export interface LocalWorker {
  /** True when a task that is queued now would be claimed here at once. */
  readonly hasRoom: boolean;
  /** Who takes up a task that is started in this transaction, with its commit; null when it is to wait its turn. */
  workerFor(op: Op): Worker | null;
  /**
   * Takes a task up that was stored as its own, or gives it back when it has no room any more: false, once it is
   * anybody's. `sentAt`: `performance.now()` before it was stored.
   */
  begin(task: ClaimedTask, sentAt: number): Promise<boolean>;
  /** Looks for due tasks now. */
  kick(): void;
  /** Looks for due tasks in so many milliseconds. */
  dueIn(ms: number): void;
}

/** Tells workers, here and in other processes, that a task may be due. A notice that is lost costs at most one poll. */
@injectable()
export class WakeUps {
  private readonly log: Logger;
  private worker: LocalWorker | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly freed = new Map<string, { slots: number; count: number }>();

  constructor(
    private readonly database: Database,
    private readonly requests: TaskRequestRepository,
    logging: Logging,
  ) {
    this.log = logging.for('workflow');
  }

  /** From here on this process runs tasks too. */
  attach(worker: LocalWorker): void {
    this.worker = worker;
  }

  /** See `LocalWorker`. */
  workerFor(op: Op): Worker | null {
    return this.worker?.workerFor(op) ?? null;
  }

  /** After the commit: has the worker of this process take up a task that was stored as its own. */
  begin(op: Op, task: ClaimedTask, sentAt: number): void {
    op.afterCommit(() => {
      this.worker?.begin(task, sentAt).then(
        (begun) => begun || this.look(true),
        (error: unknown) =>
          this.log.warn(
            { taskId: task.id, err: error },
            'a new task could not be given back: it is free when its lease ends',
          ),
      );
    });
  }

  /**
   * After the commit: looks for due tasks here, and tells the others when the task may be theirs (`everywhere`: it
   * belongs to a worker already) or this one has no room.
   */
  workers(op: Op, everywhere: boolean): void {
    op.afterCommit(() => this.look(everywhere));
  }

  /** Some task is due in so many milliseconds. */
  dueIn(ms: number): void {
    this.worker?.dueIn(ms);
  }

  /**
   * A slot was given back, or a task has gone to sleep for one (then with no freed slot of its own). Those who wait
   * are looked for after that has committed, so that either this or the look of the one that went to sleep finds the
   * other.
   */
  slotFreed({ scope, slots }: Limit): void {
    const known = this.freed.get(scope);
    this.freed.set(scope, { slots, count: (known?.count ?? 0) + 1 });
    this.timer ??= setTimeout(() => void this.wakeWaiting(), gatherMs);
  }

  async stop(): Promise<void> {
    clearTimeout(this.timer);
    await this.wakeWaiting();
  }

  private look(everywhere: boolean): void {
    const here = this.worker?.hasRoom ?? false;
    this.worker?.kick();
    if (!here || everywhere) this.database.notify(wakeChannel);
  }

  private async wakeWaiting(): Promise<void> {
    this.timer = undefined;
    const freed = [...this.freed].map(([scope, { slots, count }]) => ({ scope, slots, count }));
    this.freed.clear();
    try {
      if (freed.length > 0 && (await this.requests.wakeWaiting(freed))) this.look(false);
    } catch (error) {
      this.log.debug({ err: error }, 'those who wait for a slot were not woken; they look for themselves later');
    }
  }
}
