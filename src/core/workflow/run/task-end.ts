import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';
import { WakeUps } from '../request/wake-ups';
import { TaskChildrenRepository } from '../storage/task-children.repository';
import type { Seen } from '../storage/task-row';
import type { RunState } from './run-state';
import { TaskLocks } from './task-locks';
import { TaskSlots } from './task-slots';

/** What goes with the end of a task, in the transaction that ends it. */
@injectable()
export class TaskEnd {
  constructor(
    private readonly locks: TaskLocks,
    private readonly children: TaskChildrenRepository,
    private readonly slots: TaskSlots,
    private readonly wakeUps: WakeUps,
  ) {}

  /** Gives up its locks and its slots, and tells the task that it is a part of. `seen`: what its last write returned. */
  async release(run: RunState, op: Op, seen: Pick<Seen, 'hasWaiter'>, failed: boolean): Promise<void> {
    await this.locks.free(run, op, seen);
    await this.slots.free(run, op);
    await this.tellParent(run, op, failed);
    op.afterCommit(() => (seen.hasWaiter || !run.locked) && this.wakeUps.dueIn(0));
  }

  private async tellParent(run: RunState, op: Op, failed: boolean): Promise<void> {
    if (run.task.parentId === null) return;
    await this.children.over(op, run.task.parentId, failed);
    this.wakeUps.workers(op, true);
  }
}
