import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Logging } from '../../telemetry/logging';
import { TaskWaiters } from '../request/task-waiters';
import { WakeUps } from '../request/wake-ups';
import { EngineTransactions } from '../storage/engine-transactions';
import { TaskRunRepository } from '../storage/task-run.repository';
import { WorkflowMetrics } from '../workflow-metrics';
import { ForwardPhase } from './forward-phase';
import type { RunState } from './run-state';
import { TaskLocks } from './task-locks';
import { TaskSlots } from './task-slots';
import { UndoPhase } from './undo-phase';
import { Workload } from './workload';
import { LeaseLost } from '../storage/interruptions';

/** After the engine's own writes failed. Milliseconds. */
const afterFailureMs = 500;

/** Brings claimed tasks forward until they are over, asleep, given back or lost. */
@injectable()
export class TaskRunner {
  private readonly log: Logger;

  constructor(
    private readonly forward: ForwardPhase,
    private readonly backward: UndoPhase,
    private readonly locks: TaskLocks,
    private readonly slots: TaskSlots,
    private readonly store: TaskRunRepository,
    private readonly transactions: EngineTransactions,
    private readonly waiters: TaskWaiters,
    private readonly wakeUps: WakeUps,
    private readonly workload: Workload,
    private readonly metrics: WorkflowMetrics,
    logging: Logging,
  ) {
    this.log = logging.for('workflow');
  }

  /** Never rejects. */
  async run(run: RunState): Promise<void> {
    const { task } = run;
    if (task.deaths > 0)
      this.log.warn(
        { taskId: task.id, type: task.type, cursor: task.cursor, deaths: task.deaths },
        'taken over from a process that died with it, or was cut off',
      );
    try {
      if (task.fence !== '1') {
        const [steps, slots] = await this.transactions.alone(() =>
          Promise.all([this.store.steps(task.id), this.store.slots(task.id)]),
        );
        run.load(steps, slots);
      }
      if ((await this.locks.taken(run)) && (await this.slots.admitted(run))) await this.loop(run);
    } catch (error) {
      await this.stopped(run, error);
    }
  }

  private async loop(run: RunState): Promise<void> {
    for (;;) {
      if (run.state !== 'running' && run.state !== 'compensating') return this.over(run);
      if (this.workload.stopping) return this.giveBack(run, 0);
      const end = run.state === 'running' ? await this.forward.step(run) : await this.backward.step(run);
      if (end === 'asleep') return;
    }
  }

  private over(run: RunState): void {
    const { task, state } = run;
    this.metrics.ended.inc({ type: task.type, state });
    this.metrics.duration.observe({ type: task.type, state }, Math.max(0, run.now() - task.startedAt) / 1000);
    this.waiters.settled(task.id, state);
  }

  /**
   * The engine's own writes failed, or the lease is gone. If the task is still ours it is given back soon, otherwise
   * nothing is touched.
   */
  private async stopped(run: RunState, error: unknown): Promise<void> {
    const { task } = run;
    if (error instanceof LeaseLost) {
      this.metrics.leasesLost.inc();
      this.log.warn(
        { taskId: task.id, type: task.type, fence: task.fence },
        'lease lost: stopped without touching anything',
      );
    } else {
      this.log.error(
        { taskId: task.id, type: task.type, err: error },
        'the run of a task stopped; it will be taken up again',
      );
    }
    if (performance.now() < run.leaseEnd) await this.giveBack(run, afterFailureMs);
  }

  /** Fenced by owner and fence only: it changes nothing once somebody else has the task. */
  private async giveBack(run: RunState, afterMs: number): Promise<void> {
    try {
      await this.transactions.alone(() => this.store.release(run.hold, afterMs));
      this.wakeUps.dueIn(afterMs);
    } catch (error) {
      this.log.warn(
        { taskId: run.task.id, err: error },
        'the task could not be given back: it is free when its lease ends',
      );
    }
  }
}
