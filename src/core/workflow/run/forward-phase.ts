import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Logging } from '../../telemetry/logging';
import type { AnyStep, Duration, RetryPolicy } from '../definition/definition';
import type { StepError } from '../definition/step-error';
import { PermanentError, processDied } from '../definition/workflow-error';
import { EngineTransactions } from '../storage/engine-transactions';
import { TaskRunRepository } from '../storage/task-run.repository';
import type { StepWrite } from '../storage/task-row';
import { backoffMs } from './backoff';
import { Checkpoints } from './checkpoints';
import type { RunState, StepEnd } from './run-state';
import { describeFailure, storedError, type StepFailure } from './step-failure';
import { StepObserver } from './step-observer';
import { AllSteps } from './steps/all-steps';
import { TaskEvents } from './task-events';
import { TaskSleep } from './task-sleep';
import { TaskSlots } from './task-slots';
import { CancelSeen, LeaseLost, NoSlot } from '../storage/interruptions';

/**
 * A removal on a node that cannot be reached counts as done after so many attempts, so that a short break is not taken
 * for a loss.
 */
const lostNodeAttempts = 3;

/** Runs the steps in order until the last one, a failure or a cancel. */
@injectable()
export class ForwardPhase {
  private readonly log: Logger;

  constructor(
    private readonly steps: AllSteps,
    private readonly checkpoints: Checkpoints,
    private readonly transactions: EngineTransactions,
    private readonly store: TaskRunRepository,
    private readonly slots: TaskSlots,
    private readonly sleep: TaskSleep,
    private readonly events: TaskEvents,
    private readonly observer: StepObserver,
    logging: Logging,
  ) {
    this.log = logging.for('workflow');
  }

  /** One boundary and one step. After `next` the run's state says what follows. */
  async step(run: RunState): Promise<StepEnd> {
    run.assertHeld();
    const late = run.now() >= run.task.deadline;
    if (run.cancelled || late) await this.checkpoints.flush(run);
    if (run.cancelled) return this.cancel(run);
    const seq = run.cursor + run.carried.length;
    const step = run.steps[seq];
    if (!step) throw new LeaseLost(run.task.id);
    if (late) {
      const error = new PermanentError('deadline_exceeded', 'The task did not end within its time.');
      return this.turnRound(run, describeFailure(error, step.name));
    }
    if (run.deadly) return this.giveUp(run, step);
    try {
      return await this.steps.forward(run, step, seq);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      await this.checkpoints.flush(run);
      if (error instanceof NoSlot) return this.sleep.untilSlot(run, error.limit);
      if (error instanceof CancelSeen) {
        run.cancelReason = error.reason;
        return this.cancel(run);
      }
      run.assertHeld();
      // Of several calls the ones before the failed one are over.
      return this.failed(run, run.steps[run.cursor] ?? step, run.cursor, error);
    }
  }

  private async failed(run: RunState, step: AnyStep, seq: number, error: unknown): Promise<StepEnd> {
    const failure = describeFailure(error, step.name);
    const row = run.row(seq, 'run');
    // A call's attempt was counted with its intent; one inside the database leaves no trace when it is rolled back.
    const attempt =
      step.kind === 'tx' || (step.kind === 'children' && !row?.accepted)
        ? run.nextAttempt(seq, 'run')
        : Math.max(1, row?.attempt ?? 1);
    const stored = storedError(failure);
    const write: StepWrite = { seq, name: step.name, phase: 'run', state: 'running', attempt, error: stored };
    if (step.kind === 'remote' && step.spec.tolerateLostNode && failure.unreachable && attempt >= lostNodeAttempts) {
      this.log.warn(
        { taskId: run.task.id, step: step.name, host: failure.host },
        'the node is lost: its part counts as done',
      );
      const since = performance.now();
      const done = await this.checkpoints.alone(run, [{ ...write, state: 'succeeded' }]);
      return this.checkpoints.passed(run, step, done, since);
    }
    // An accepted call goes on at the node while it cannot be asked, and is repeated when the node forgot it; neither
    // is a failed attempt.
    const accepted = Boolean(row?.accepted && failure.unreachable);
    const forgotten = Boolean(row?.accepted && failure.code === 'unknown_key');
    const spec: { retry?: RetryPolicy; timeout?: Duration } = step.spec;
    const pause = backoffMs(spec.retry, attempt);
    const exhausted = !accepted && !forgotten && attempt >= (spec.retry?.attempts ?? Number.POSITIVE_INFINITY);
    const permanent = failure.permanent || exhausted || run.now() + pause >= run.deadlineOf(seq, spec.timeout);
    this.observer.failed(run, step.name, 'run', failure, permanent);
    if (permanent) return this.turnRound(run, failure, { ...write, state: 'failed' });
    return this.transactions.run(async (op) => {
      if (!accepted) await this.slots.freeHosts(run, op);
      return this.sleep.nap(run, op, { ...write, accepted, hostId: row?.hostId ?? null }, pause);
    });
  }

  private giveUp(run: RunState, step: AnyStep): Promise<StepEnd> {
    const failure = describeFailure(processDied(run.task.deaths), step.name);
    this.observer.failed(run, step.name, 'run', failure, true);
    const seq = run.cursor;
    const attempt = run.row(seq, 'run')?.attempt ?? run.nextAttempt(seq, 'run');
    const error = storedError(failure);
    return this.turnRound(run, failure, { seq, name: step.name, phase: 'run', state: 'failed', attempt, error });
  }

  private cancel(run: RunState): Promise<StepEnd> {
    const step = run.steps[run.cursor];
    const failure: StepFailure = {
      code: 'cancelled',
      message: run.cancelReason ?? 'The task was cancelled.',
      step: step?.name ?? null,
      host: null,
      hint: null,
      permanent: true,
      unreachable: false,
    };
    const row = run.row(run.cursor, 'run');
    const error: StepError = storedError(failure);
    const write: StepWrite | null =
      row && step ? { seq: row.seq, name: row.name, phase: 'run', state: 'failed', attempt: row.attempt, error } : null;
    return this.turnRound(run, failure, write, 'cancelled');
  }

  /** From here on the started steps are undone, the failed one first. */
  private async turnRound(
    run: RunState,
    failure: StepFailure,
    write: StepWrite | null = null,
    outcome: 'failed' | 'cancelled' = 'failed',
  ): Promise<StepEnd> {
    const error = storedError(failure);
    const begun = write || run.row(run.cursor, 'run') ? run.cursor : run.cursor - 1;
    const cursor = Math.max(begun, run.lastStarted);
    const seen = await this.transactions.run(async (op) => {
      await this.slots.freeHosts(run, op);
      const to = await this.store.compensate(op, run.hold, write ? [write] : [], { outcome, error, cursor });
      run.error = error;
      await this.events.state(run, op, { step: failure.step, state: 'compensating' });
      return to;
    });
    if (write) run.wrote(write);
    run.saw(seen);
    Object.assign(run, { state: 'compensating', cursor, outcome, undoDeadline: seen.undoDeadline });
    return 'next';
  }
}
