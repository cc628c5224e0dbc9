import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';
import { LockQueue } from '../request/lock-queue';
import { WakeUps } from '../request/wake-ups';
import { EngineTransactions } from '../storage/engine-transactions';
import { TaskRunRepository } from '../storage/task-run.repository';
import type { Seen } from '../storage/task-row';
import type { RunState } from './run-state';

/** The locks that tasks take and give back. */
@injectable()
export class TaskLocks {
  constructor(
    private readonly queue: LockQueue,
    private readonly store: TaskRunRepository,
    private readonly transactions: EngineTransactions,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * True when the task has all of its locks, or ends without them. Otherwise it waits for the next as if nobody had taken
   * it yet.
   */
  async taken(run: RunState): Promise<boolean> {
    const { id, type, subject, lockKeys } = run.task;
    if (run.locked || run.cancelled || run.state !== 'running' || lockKeys === null) return true;
    run.assertHeld();
    run.locked = await this.transactions.run(async (op) => {
      const awaited = await this.queue.takeRest(op, { id, type, subject, lockKeys }, run.definition.options);
      if (awaited === undefined) await this.store.locked(op, run.hold);
      else await this.store.awaitLock(op, run.hold, awaited);
      return awaited === undefined;
    });
    // It may have been cancelled just before it fell asleep.
    if (!run.locked) this.wakeUps.dueIn(0);
    return run.locked;
  }

  /** In the transaction that ends the task; `seen`: what its last write returned. */
  async free(run: RunState, op: Op, seen: Pick<Seen, 'hasWaiter'>): Promise<void> {
    const { id, lockKeys } = run.task;
    if (!run.locked) await this.queue.giveUp(op, id, lockKeys);
    else if (seen.hasWaiter) await this.queue.handOver(op, lockKeys);
  }
}
