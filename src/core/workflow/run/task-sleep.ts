import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';
import { WakeUps } from '../request/wake-ups';
import { EngineTransactions } from '../storage/engine-transactions';
import { TaskRunRepository } from '../storage/task-run.repository';
import type { Awaits, StepWrite } from '../storage/task-row';
import { WorkflowSettings } from '../workflow-settings';
import type { RunState, StepEnd } from './run-state';
import { TaskSlots } from './task-slots';
import type { Limit } from '../storage/interruptions';

/** Tasks that wait give their worker's place back. */
@injectable()
export class TaskSleep {
  constructor(
    private readonly store: TaskRunRepository,
    private readonly slots: TaskSlots,
    private readonly wakeUps: WakeUps,
    private readonly transactions: EngineTransactions,
    private readonly settings: WorkflowSettings,
  ) {}

  /** Gives the task back, in the caller's transaction, until `ms` have passed or somebody wakes it. */
  async nap(run: RunState, op: Op, write: StepWrite | null, ms: number, awaits: Awaits = {}): Promise<StepEnd> {
    const due = await this.store.nap(op, run.hold, write ? [write] : [], run.wakeSeq, ms, awaits);
    op.afterCommit(() => this.wakeUps.dueIn(due ? 0 : ms));
    return 'asleep';
  }

  /**
   * Sleeps until a slot under the limit is free, without those of hosts: two tasks that each kept what the other one
   * waits for would wait for ever.
   */
  async untilSlot(run: RunState, limit: Limit): Promise<StepEnd> {
    const pause = this.settings.slotRecheckMs * (0.5 + 0.5 * Math.random());
    await this.transactions.run(async (op) => {
      await this.slots.freeHosts(run, op);
      op.last();
      await this.nap(run, op, null, pause, { scope: limit.scope });
    });
    this.wakeUps.slotFreed(limit);
    return 'asleep';
  }
}
