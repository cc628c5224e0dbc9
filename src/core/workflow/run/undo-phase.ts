import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Logging } from '../../telemetry/logging';
import type { AnyStep } from '../definition/definition';
import type { StepError } from '../definition/step-error';
import { processDied } from '../definition/workflow-error';
import { LockQueue } from '../request/lock-queue';
import { EngineTransactions } from '../storage/engine-transactions';
import { TaskRunRepository } from '../storage/task-run.repository';
import type { StepWrite } from '../storage/task-row';
import { WorkflowSettings } from '../workflow-settings';
import { backoffMs } from './backoff';
import type { RunState, StepEnd } from './run-state';
import { describeFailure, storedError, type StepFailure } from './step-failure';
import { StepObserver } from './step-observer';
import { AllSteps } from './steps/all-steps';
import { TaskEnd } from './task-end';
import { TaskEvents } from './task-events';
import { TaskSleep } from './task-sleep';
import { TaskSlots } from './task-slots';
import { LeaseLost, NoSlot } from '../storage/interruptions';

const unknownError: StepError = { code: 'unknown', message: 'The task failed.', step: null, host: null, hint: null };

/** Undoes every started step, last one first, and repeats until it is done or the undo's own deadline is over. */
@injectable()
export class UndoPhase {
  private readonly log: Logger;

  constructor(
    private readonly steps: AllSteps,
    private readonly transactions: EngineTransactions,
    private readonly store: TaskRunRepository,
    private readonly locks: LockQueue,
    private readonly end: TaskEnd,
    private readonly slots: TaskSlots,
    private readonly sleep: TaskSleep,
    private readonly events: TaskEvents,
    private readonly observer: StepObserver,
    private readonly settings: WorkflowSettings,
    logging: Logging,
  ) {
    this.log = logging.for('workflow');
  }

  /** One undo, or the end. After `next` the run's state says what follows. */
  async step(run: RunState): Promise<StepEnd> {
    run.assertHeld();
    const seq = nextToUndo(run);
    const step = run.steps[seq];
    if (run.deadly) return this.deadly(run, step, seq);
    try {
      return step ? await this.undo(run, step, seq) : await this.finish(run);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      if (error instanceof NoSlot) return this.sleep.untilSlot(run, error.limit);
      run.assertHeld();
      return this.failed(run, step, seq, error);
    }
  }

  private async undo(run: RunState, step: AnyStep, seq: number): Promise<StepEnd> {
    const since = performance.now();
    if ((await this.steps.undo(run, step, seq)) === 'asleep') return 'asleep';
    this.observer.took(run, step.name, 'undo', since);
    await this.observer.at(run, step.name, 'undo', 'after-checkpoint');
    return 'next';
  }

  /** All is undone: the definition's last word and the final state commit together. */
  private async finish(run: RunState): Promise<StepEnd> {
    const state = run.outcome ?? 'failed';
    const error = run.error ?? unknownError;
    await this.transactions.run(async (op) => {
      await run.definition.options.whenUndone?.(run.txContext(op, 1), { code: error.code, message: error.message });
      const seen = await this.store.end(op, run.hold, [], {
        state,
        cursor: -1,
        progress: run.progress,
        undone: true,
        lockKeys: run.locks,
      });
      await this.end.release(run, op, seen, true);
      await this.events.state(run, op, { step: error.step, state, undone: true });
    });
    run.state = state;
    return 'next';
  }

  /** Undo has no attempts to run out of, only its deadline. */
  private async failed(run: RunState, step: AnyStep | undefined, seq: number, error: unknown): Promise<StepEnd> {
    const failure = describeFailure(error, step?.name ?? null);
    const row = run.row(seq, 'undo');
    const accepted = Boolean(row?.accepted && failure.unreachable);
    const attempt = step?.kind === 'remote' ? Math.max(1, row?.attempt ?? 1) : run.nextAttempt(seq, 'undo');
    // The last callback has no row that counts its attempts.
    const pause = backoffMs({ maxBackoff: `${this.settings.undoMaxBackoffMs}ms` }, step ? attempt : 4);
    this.observer.failed(run, step?.name ?? null, 'undo', failure, false);
    // A final answer stays in the host's journal: the next call needs another key.
    const call = (row?.call ?? 0) + (failure.permanent ? 1 : 0);
    const write: StepWrite | null = step
      ? {
          seq,
          name: step.name,
          phase: 'undo',
          state: 'running',
          attempt,
          accepted,
          call,
          hostId: row?.hostId ?? null,
          error: storedError(failure),
        }
      : null;
    if (run.now() + pause >= run.undoUntil) return this.giveUp(run, failure, write && { ...write, state: 'failed' });
    return this.transactions.run(async (op) => {
      if (!accepted) await this.slots.freeHosts(run, op);
      return this.sleep.nap(run, op, write, pause);
    });
  }

  /** What cannot be undone without an end to the process is an operator's business. */
  private deadly(run: RunState, step: AnyStep | undefined, seq: number): Promise<StepEnd> {
    const failure = describeFailure(processDied(run.task.deaths), step?.name ?? null);
    this.observer.failed(run, step?.name ?? null, 'undo', failure, true);
    const attempt = run.row(seq, 'undo')?.attempt ?? run.nextAttempt(seq, 'undo');
    const error = storedError(failure);
    return this.giveUp(
      run,
      failure,
      step ? { seq, name: step.name, phase: 'undo', state: 'failed', attempt, error } : null,
    );
  }

  /**
   * Stuck: an alarm and operators' verbs, unless a task that removes the same object waits; then that one goes on from
   * here.
   */
  private async giveUp(run: RunState, failure: StepFailure, write: StepWrite | null): Promise<StepEnd> {
    const first = run.error ?? unknownError;
    const error: StepError = {
      ...first,
      host: failure.host ?? first.host,
      hint: `It could not be undone: ${failure.step ? `"${failure.step}": ` : ''}${failure.message} An operator may retry, skip the step or abandon the task.`,
    };
    run.error = error;
    const state = await this.markStuck(run, error, write, true).catch(async (reason: unknown) => {
      if (reason instanceof LeaseLost) throw reason;
      this.log.error({ taskId: run.task.id, err: reason }, 'whenStuck failed: the task is marked without it');
      return this.markStuck(run, error, write, false);
    });
    const { task } = run;
    this.log.error(
      {
        taskId: task.id,
        requestId: task.requestId,
        type: task.type,
        step: failure.step,
        host: failure.host,
        code: failure.code,
      },
      `task is stuck: ${error.hint}`,
    );
    run.state = state;
    return 'next';
  }

  private markStuck(
    run: RunState,
    error: StepError,
    write: StepWrite | null,
    withCallback: boolean,
  ): Promise<'stuck' | 'failed'> {
    return this.transactions.run(async (op) => {
      if (withCallback)
        await run.definition.options.whenStuck?.(run.txContext(op, 1), { code: error.code, message: error.message });
      const seen = await this.store.stuck(op, run.hold, write ? [write] : [], error);
      const successor = seen.hasWaiter && (await this.locks.awaitedByRemoval(op, run.task.lockKeys));
      if (successor)
        await this.locks.endStuck(
          op,
          run.task,
          'It could not be undone; the task that waited for it goes on from there.',
        );
      await this.slots.free(run, op);
      const state = successor ? 'failed' : 'stuck';
      await this.events.state(run, op, { step: error.step, state });
      return state;
    });
  }
}

/** The last started step at or below the cursor that has an undo and is not undone yet; -1 when there is none. */
const nextToUndo = (run: RunState): number => {
  for (let seq = run.cursor; seq >= 0; seq--) {
    const step = run.steps[seq];
    const started = run.row(seq, 'run');
    const undone = run.row(seq, 'undo');
    // Children may be at work, whether there is anything to undo after them or not.
    if (!step || step.kind === 'wait' || (step.kind !== 'children' && !step.spec.undo)) continue;
    if (started && started.state !== 'skipped' && undone?.state !== 'succeeded' && undone?.state !== 'skipped')
      return seq;
  }
  return -1;
};
