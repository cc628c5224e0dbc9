import { performance } from 'node:perf_hooks';
import type { Op } from '../db/op';
import { backoffMs } from './backoff';
import { CancelSeen } from './cancel-seen';
import { ChildrenRunner } from './children-runner';
import type { AnyStep, Duration, RetryPolicy } from './definition';
import { parseDuration } from './duration';
import { LeaseLost } from './lease-lost';
import { NoPlace } from './no-place';
import { inTransaction, type RunServices } from './run-services';
import type { RunState } from './run-state';
import { describeFailure, storedError, type StepError, type StepFailure } from './step-failure';
import { jsonOutput, type StepEnd, type StepRunner } from './step-runner';
import { publishState, publishTask } from './task-event';
import type { Seen, StepWrite } from './task-row';
import type { TaskState } from './workflows';
import { PermanentError, processDied } from './workflow-error';

type TxStepOf = AnyStep & { kind: 'tx' };

/** Times on the clock of `performance.now()`. */
interface TimedWrite {
  write: StepWrite;
  started: number;
  ended: number;
}

/** Steps that share one commit at most, and how long they may hold its locks together before it. */
const stepsPerCommit = 8;
const longestCommitMs = 100;

/**
 * A removal on a node that cannot be reached counts as done after so many attempts, so that a short break is not taken
 * for a loss.
 */
const lostNodeAttempts = 3;

/** Runs the steps in order until the last one, a failure or a cancel. */
export class ForwardPhase {
  /** Set after a shared commit failed. */
  private singly = false;
  /**
   * A call to a node that is over; its checkpoint is written together with the next step's. Lost with the process, it
   * is asked again by its key.
   */
  private carried: { write: StepWrite; ended: number } | undefined;

  private readonly children: ChildrenRunner;

  constructor(
    private readonly services: RunServices,
    private readonly run: RunState,
    private readonly runner: StepRunner,
  ) {
    this.children = new ChildrenRunner(services, run, runner);
  }

  /** One boundary and one step. After `next` the run's state says what follows. */
  async step(): Promise<StepEnd> {
    const { run } = this;
    run.assertHeld();
    const late = run.now() >= run.task.deadline;
    if (run.cancelled || late) await this.flush();
    if (run.cancelled) return this.cancel();
    const seq = run.cursor + (this.carried ? 1 : 0);
    const step = run.steps[seq];
    if (!step) throw new LeaseLost(run.task.id);
    if (late) {
      return this.turn({
        ...describeFailure(new PermanentError('deadline_exceeded', 'The task did not end within its time.'), step.name),
      });
    }
    if (run.deadly) return this.giveUp(step);
    try {
      return await this.attempt(step, seq);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      await this.flush();
      if (error instanceof NoPlace) return this.runner.park(error.limit);
      if (error instanceof CancelSeen) {
        run.cancelReason = error.reason;
        return this.cancel();
      }
      run.assertHeld();
      return this.failed(step, run.cursor, error);
    }
  }

  private attempt(step: AnyStep, seq: number): Promise<StepEnd> {
    if (step.kind === 'tx') return this.tx(step, seq);
    if (step.kind === 'wait') return this.wait(step, seq);
    if (step.kind === 'children') return this.fanOut(step, seq);
    return this.remote(step, seq);
  }

  /**
   * Steps inside the database that follow each other share one checkpoint and commit, so that several cost little more
   * than one. When a later one fails, all are rolled back, and this run takes them one by one: those before the failed
   * one then commit, and its failure is its own.
   */
  private async tx(first: TxStepOf, seq: number): Promise<StepEnd> {
    const { run, runner } = this;
    const restore = run.snapshot();
    const since = performance.now();
    const writes: TimedWrite[] = [];
    try {
      const remember = await inTransaction(this.services, async (op) => {
        for (let step: AnyStep | undefined = first; step?.kind === 'tx'; step = run.steps[seq + writes.length]) {
          writes.push(await this.effect(op, step, seq + writes.length));
          if (this.singly || writes.length >= stepsPerCommit || performance.now() - since > longestCommitMs) break;
        }
        const now = performance.now();
        return this.checkpoint(op, [
          ...this.carriedWrites(),
          ...writes.map(({ write, started, ended }) => ({
            ...write,
            startedMsAgo: now - started,
            endedMsAgo: now - ended,
          })),
        ]);
      });
      remember();
    } catch (error) {
      restore();
      if (writes.length === 0 || this.singly || error instanceof LeaseLost) throw error;
      run.assertHeld();
      this.singly = true;
      return 'next';
    }
    await this.carriedIsStored();
    for (const { write, started } of writes) {
      runner.observe(run.task.type, write.name, 'run', started);
      await runner.probe(write.name, 'run', 'after-checkpoint');
    }
    return 'next';
  }

  /**
   * One step inside the database; its output is there for the steps after it, in this transaction and, once it has
   * committed, for good.
   */
  private async effect(op: Op, step: TxStepOf, seq: number): Promise<TimedWrite> {
    const { run, runner } = this;
    const started = performance.now();
    const attempt = runner.attemptOf(seq, 'run');
    await runner.probe(step.name, 'run', 'before-effect');
    const output = jsonOutput(await step.spec.run(run.txContext(op, attempt)));
    await runner.probe(step.name, 'run', 'after-effect');
    const write: StepWrite = { seq, name: step.name, phase: 'run', state: 'succeeded', attempt, output };
    runner.remember(write);
    return { write, started, ended: performance.now() };
  }

  private async remote(step: AnyStep & { kind: 'remote' }, seq: number): Promise<StepEnd> {
    const { run, runner } = this;
    const since = performance.now();
    const { spec } = step;
    if (!run.row(seq, 'run') && spec.when && !spec.when(run.stepContext(1))) {
      return this.passed(
        step,
        await this.checkpointAlone({ seq, name: step.name, phase: 'run', state: 'skipped', attempt: 0 }),
        since,
      );
    }
    const deadline = runner.deadlineOf(seq, 'run', spec.timeout);
    if (run.now() >= deadline) throw this.timedOut(spec.timeout);
    const before = {
      writes: this.carriedWrites(),
      progress: this.progressAt(seq),
      stored: () => this.carriedIsStored(),
    };
    const got = await runner.remote(seq, step.name, 'run', spec, deadline, before);
    if (got.end === 'asleep') return 'asleep';
    if (got.end === 'skip') throw new PermanentError('no_host', `No host is known for the step "${step.name}".`);
    const attempt = run.row(seq, 'run')?.attempt ?? 1;
    const write: StepWrite = { seq, name: step.name, phase: 'run', state: 'succeeded', attempt, output: got.output };
    if (!this.sharesCheckpoint(write)) return this.passed(step, await this.checkpointAlone(write), since);
    this.carried = { write, ended: performance.now() };
    runner.observe(run.task.type, step.name, 'run', since);
    return 'next';
  }

  /**
   * Whether the next step writes to the database before anything else happens, so that this checkpoint can go with it.
   */
  private sharesCheckpoint(write: StepWrite): boolean {
    const { run, runner } = this;
    const next = run.steps[write.seq + 1];
    if (!next || next.kind === 'wait' || next.kind === 'children' || run.cancelled || this.services.stopping())
      return false;
    runner.remember(write);
    return next.kind === 'tx' || !next.spec.when || next.spec.when(run.stepContext(1));
  }

  private carriedWrites(): StepWrite[] {
    return this.carried ? [{ ...this.carried.write, endedMsAgo: performance.now() - this.carried.ended }] : [];
  }

  /** What was carried has committed with something else. */
  private async carriedIsStored(): Promise<void> {
    const name = this.carried?.write.name;
    this.carried = undefined;
    if (name !== undefined) await this.runner.probe(name, 'run', 'after-checkpoint');
  }

  /** Stores what is carried by itself: the next step did not come to it. */
  private async flush(): Promise<void> {
    const [write] = this.carriedWrites();
    if (!write) return;
    this.run.assertHeld();
    (await this.checkpointAlone(write))();
    await this.carriedIsStored();
  }

  private progressAt(cursor: number): number {
    return Math.floor((100 * cursor) / this.run.steps.length);
  }

  private async wait(step: AnyStep & { kind: 'wait' }, seq: number): Promise<StepEnd> {
    const { run, runner, services } = this;
    const since = performance.now();
    const before = run.row(seq, 'run');
    const attempt = before?.attempt ?? 1;
    const deadline = runner.deadlineOf(seq, 'run', step.spec.timeout);
    await runner.probe(step.name, 'run', 'before-effect');
    const done = await inTransaction(services, async (op) => {
      const output = jsonOutput(await step.spec.until(run.txContext(op, attempt)));
      await runner.probe(step.name, 'run', 'after-effect');
      if (output !== undefined)
        return this.checkpoint(op, [{ seq, name: step.name, phase: 'run', state: 'succeeded', attempt, output }]);
      const left = deadline - run.now();
      if (left <= 0) throw this.timedOut(step.spec.timeout);
      if (!before) await publishTask(services, run, op, step.name);
      await runner.nap(
        { seq, name: step.name, phase: 'run', state: 'running', attempt },
        Math.min(left, parseDuration(step.spec.every)),
        op,
      );
      return undefined;
    });
    return done ? this.passed(step, done, since) : 'asleep';
  }

  private async fanOut(step: AnyStep & { kind: 'children' }, seq: number): Promise<StepEnd> {
    const since = performance.now();
    const got = await this.children.forward(step, seq, (op, write) => this.checkpoint(op, [write]));
    return got.end === 'asleep' ? 'asleep' : this.passed(step, got.remember, since);
  }

  private timedOut(timeout: Duration | undefined): PermanentError {
    return new PermanentError(
      'step_timeout',
      timeout ? `The step did not end within ${timeout}.` : 'The step did not end within the time of its task.',
    );
  }

  /**
   * The checkpoint of steps that follow each other, and with the last one the task's end, in the caller's transaction.
   * Returns what to remember once it has committed.
   */
  private async checkpoint(op: Op, writes: readonly StepWrite[]): Promise<() => void> {
    const { run, services } = this;
    const last = writes[writes.length - 1];
    if (!last) throw new Error('a checkpoint needs a step');
    const cursor = last.seq + 1;
    const next = run.steps[cursor]?.name ?? null;
    const progress = this.progressAt(cursor);
    const remember = (seen: Seen, state: TaskState): void => {
      for (const write of writes) this.runner.remember(write);
      run.saw(seen);
      Object.assign(run, { cursor, progress, state });
    };
    if (op.inTransaction) await (next === null ? this.runner.freePlaces(op) : this.runner.freeHosts(op));
    if (next !== null) {
      const seen = await services.store.advance(op, run.hold, writes, { cursor, step: next, progress });
      return () => remember(seen, run.state);
    }
    const seen = await services.store.end(op, run.hold, writes, {
      state: 'succeeded',
      cursor,
      progress,
      undone: false,
    });
    if (seen.hasWaiter && run.task.lockKey !== null) await services.requests.handOver(op, run.task.lockKey);
    await this.runner.tellParent(op, false);
    await publishState(services, run, op, { step: last.name, state: 'succeeded', progress });
    op.afterCommit(() => seen.hasWaiter && services.dueIn(0));
    return () => remember(seen, 'succeeded');
  }

  /**
   * A checkpoint without an effect in the database: one statement, unless the task ends with it or gives up a place.
   */
  private checkpointAlone(write: StepWrite): Promise<() => void> {
    const { services } = this;
    const last = write.seq + 1 >= this.run.steps.length;
    const alone = !last && this.run.places.size === 0;
    return alone
      ? services.gate.run(() => this.checkpoint(services.database.op, [write]))
      : inTransaction(services, (op) => this.checkpoint(op, [write]));
  }

  private async passed(step: AnyStep, remember: () => void, since: number): Promise<StepEnd> {
    remember();
    this.runner.observe(this.run.task.type, step.name, 'run', since);
    await this.runner.probe(step.name, 'run', 'after-checkpoint');
    return 'next';
  }

  private async failed(step: AnyStep, seq: number, error: unknown): Promise<StepEnd> {
    const { run, runner, services } = this;
    const failure = describeFailure(error, step.name);
    const row = run.row(seq, 'run');
    // A call's attempt was counted with its intent; one inside the database leaves no trace when it is rolled back.
    const attempt =
      step.kind === 'tx' || (step.kind === 'children' && !row?.accepted)
        ? runner.attemptOf(seq, 'run')
        : Math.max(1, row?.attempt ?? 1);
    const spec: { retry?: RetryPolicy; timeout?: Duration } = step.spec;
    const deadline = runner.deadlineOf(seq, 'run', spec.timeout);
    if (step.kind === 'remote' && step.spec.tolerateLostNode && failure.unreachable && attempt >= lostNodeAttempts) {
      services.log.warn(
        { taskId: run.task.id, step: step.name, host: failure.host },
        'the node is lost: its part counts as done',
      );
      return this.passed(
        step,
        await this.checkpointAlone({
          seq,
          name: step.name,
          phase: 'run',
          state: 'succeeded',
          attempt,
          error: storedError(failure),
        }),
        performance.now(),
      );
    }
    // An accepted call goes on at the node while it cannot be asked, and is repeated when the node forgot it; neither
    // is a failed attempt.
    const accepted = Boolean(row?.accepted && failure.unreachable);
    const forgotten = Boolean(row?.accepted && failure.code === 'unknown_key');
    const pause = backoffMs(spec.retry, attempt);
    const exhausted = !accepted && !forgotten && attempt >= (spec.retry?.attempts ?? Number.POSITIVE_INFINITY);
    const permanent = failure.permanent || exhausted || run.now() + pause >= deadline;
    this.count(step, failure, permanent);
    if (permanent)
      return this.turn(failure, {
        seq,
        name: step.name,
        phase: 'run',
        state: 'failed',
        attempt,
        error: storedError(failure),
      });
    const write: StepWrite = {
      seq,
      name: step.name,
      phase: 'run',
      state: 'running',
      attempt,
      accepted,
      hostId: row?.hostId ?? null,
      error: storedError(failure),
    };
    return inTransaction(services, async (op) => {
      if (!accepted) await runner.freeHosts(op);
      return runner.nap(write, pause, op);
    });
  }

  private giveUp(step: AnyStep): Promise<StepEnd> {
    const { run, runner } = this;
    const failure = describeFailure(processDied(run.task.deaths), step.name);
    this.count(step, failure, true);
    const attempt = run.row(run.cursor, 'run')?.attempt ?? runner.attemptOf(run.cursor, 'run');
    return this.turn(failure, {
      seq: run.cursor,
      name: step.name,
      phase: 'run',
      state: 'failed',
      attempt,
      error: storedError(failure),
    });
  }

  private count(step: AnyStep, failure: StepFailure, permanent: boolean): void {
    const { run, services } = this;
    services.metrics.stepFailures.inc({
      type: run.task.type,
      step: step.name,
      phase: 'run',
      kind: permanent ? 'permanent' : 'transient',
    });
    services.log.warn(
      {
        taskId: run.task.id,
        requestId: run.task.requestId,
        type: run.task.type,
        step: step.name,
        code: failure.code,
        host: failure.host,
        cause: failure.cause,
        permanent,
      },
      failure.message,
    );
  }

  private cancel(): Promise<StepEnd> {
    const { run } = this;
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
    return this.turn(failure, write, 'cancelled');
  }

  /** Turns round: from here on the started steps are undone, the failed one first. */
  private async turn(
    failure: StepFailure,
    write: StepWrite | null = null,
    outcome: 'failed' | 'cancelled' = 'failed',
  ): Promise<StepEnd> {
    const { run, services } = this;
    const error = storedError(failure);
    const cursor = write || run.row(run.cursor, 'run') ? run.cursor : run.cursor - 1;
    const seen = await inTransaction(services, async (op) => {
      await this.runner.freeHosts(op);
      const to = await services.store.compensate(op, run.hold, write ? [write] : [], { outcome, error, cursor });
      run.error = error;
      await publishState(services, run, op, { step: failure.step, state: 'compensating' });
      return to;
    });
    if (write) this.runner.remember(write);
    run.saw(seen);
    Object.assign(run, { state: 'compensating', cursor, outcome, undoDeadline: seen.undoDeadline });
    return 'next';
  }
}
