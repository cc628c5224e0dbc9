import { performance } from 'node:perf_hooks';
import type { Op } from '../db/op';
import { backoffMs } from './backoff';
import type { AnyStep } from './definition';
import { LeaseLost } from './lease-lost';
import { ChildrenRunner } from './children-runner';
import { NoPlace } from './no-place';
import { inTransaction, type RunServices } from './run-services';
import type { RunState } from './run-state';
import { describeFailure, storedError, type StepError, type StepFailure } from './step-failure';
import type { StepEnd, StepRunner } from './step-runner';
import { publishState } from './task-event';
import { processDied } from './workflow-error';
import type { StepWrite } from './task-row';

const unknownError: StepError = { code: 'unknown', message: 'The task failed.', step: null, host: null, hint: null };

/** Undoes every started step, last one first, and repeats until it is done or the undo's own deadline is over. */
export class UndoPhase {
  private readonly children: ChildrenRunner;

  constructor(
    private readonly services: RunServices,
    private readonly run: RunState,
    private readonly runner: StepRunner,
  ) {
    this.children = new ChildrenRunner(services, run, runner);
  }

  async step(): Promise<StepEnd> {
    const { run } = this;
    run.assertHeld();
    const seq = this.nextToUndo();
    const step = run.steps[seq];
    if (run.deadly) return this.deadly(step, seq);
    try {
      return step ? await this.undo(step, seq) : await this.finish();
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      if (error instanceof NoPlace) return this.runner.park(error.limit);
      run.assertHeld();
      return this.failed(step, seq, error);
    }
  }

  /** The last started step at or below the cursor that has an undo and is not undone yet; -1 when there is none. */
  private nextToUndo(): number {
    const { run } = this;
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
  }

  private async undo(step: AnyStep, seq: number): Promise<StepEnd> {
    const since = performance.now();
    if (step.kind === 'tx') await this.undoTx(step, seq);
    else if (step.kind === 'children' && (await this.undoChildren(step, seq)) === 'asleep') return 'asleep';
    else if (step.kind === 'remote' && (await this.undoRemote(step, seq)) === 'asleep') return 'asleep';
    this.runner.observe(this.run.task.type, step.name, 'undo', since);
    await this.runner.probe(step.name, 'undo', 'after-checkpoint');
    return 'next';
  }

  private async undoTx(step: AnyStep & { kind: 'tx' }, seq: number): Promise<void> {
    const { run, runner } = this;
    const attempt = runner.attemptOf(seq, 'undo');
    await runner.probe(step.name, 'undo', 'before-effect');
    const remember = await inTransaction(this.services, async (op) => {
      await step.spec.undo?.(run.txContext(op, attempt), run.outputs[step.name]);
      await runner.probe(step.name, 'undo', 'after-effect');
      return this.checkpoint(op, { seq, name: step.name, phase: 'undo', state: 'succeeded', attempt });
    });
    remember();
  }

  private async undoRemote(step: AnyStep & { kind: 'remote' }, seq: number): Promise<StepEnd> {
    const { run, runner, services } = this;
    const call = step.spec.undo;
    if (!call) return 'next';
    const got = await runner.remote(seq, step.name, 'undo', call, runner.deadlineOf(seq, 'undo', undefined));
    if (got.end === 'asleep') return 'asleep';
    const attempt = run.row(seq, 'undo')?.attempt ?? 1;
    const write: StepWrite = {
      seq,
      name: step.name,
      phase: 'undo',
      state: got.end === 'skip' ? 'skipped' : 'succeeded',
      attempt,
    };
    const remember = await services.gate.run(() => this.checkpoint(services.database.op, write));
    remember();
    return 'next';
  }

  private async undoChildren(step: AnyStep & { kind: 'children' }, seq: number): Promise<StepEnd> {
    const got = await this.children.undo(step, seq, (op, write) => this.checkpoint(op, write));
    if (got.end === 'asleep') return 'asleep';
    got.remember();
    return 'next';
  }

  private async checkpoint(op: Op, write: StepWrite): Promise<() => void> {
    const { run } = this;
    const cursor = write.seq - 1;
    const seen = await this.services.store.advance(op, run.hold, [write], {
      cursor,
      step: write.name,
      progress: run.progress,
    });
    return () => {
      this.runner.remember(write);
      run.saw(seen);
      run.cursor = cursor;
    };
  }

  /** All is undone: the definition's last word and the final state commit together. */
  private async finish(): Promise<StepEnd> {
    const { run, services } = this;
    const state = run.outcome ?? 'failed';
    const error = run.error ?? unknownError;
    const seen = await inTransaction(services, async (op) => {
      await run.definition.options.whenUndone?.(run.txContext(op, 1), { code: error.code, message: error.message });
      const ended = await services.store.end(op, run.hold, [], {
        state,
        cursor: -1,
        progress: run.progress,
        undone: true,
      });
      if (ended.hasWaiter && run.task.lockKey !== null) await services.requests.handOver(op, run.task.lockKey);
      await this.runner.freePlaces(op);
      await this.runner.tellParent(op, true);
      await publishState(services, run, op, { step: error.step, state, undone: true });
      return ended;
    });
    run.state = state;
    if (seen.hasWaiter) services.dueIn(0);
    return 'next';
  }

  /** Undo has no attempts to run out of, only its deadline. */
  private async failed(step: AnyStep | undefined, seq: number, error: unknown): Promise<StepEnd> {
    const { run, runner, services } = this;
    const failure = describeFailure(error, step?.name ?? null);
    const row = run.row(seq, 'undo');
    const accepted = Boolean(row?.accepted && failure.unreachable);
    const attempt = step?.kind === 'remote' ? Math.max(1, row?.attempt ?? 1) : runner.attemptOf(seq, 'undo');
    // The last callback has no row that counts its attempts.
    const pause = backoffMs({ maxBackoff: `${services.settings.undoMaxBackoffMs}ms` }, step ? attempt : 4);
    services.metrics.stepFailures.inc({
      type: run.task.type,
      step: step?.name ?? 'end',
      phase: 'undo',
      kind: 'transient',
    });
    services.log.warn(
      {
        taskId: run.task.id,
        requestId: run.task.requestId,
        type: run.task.type,
        step: step?.name,
        code: failure.code,
        host: failure.host,
        cause: failure.cause,
      },
      `undo failed: ${failure.message}`,
    );
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
    if (run.now() + pause < (run.undoDeadline ?? Number.POSITIVE_INFINITY)) {
      return inTransaction(services, async (op) => {
        if (!accepted) await runner.freeHosts(op);
        return runner.nap(write, pause, op);
      });
    }
    return this.giveUp(failure, write && { ...write, state: 'failed' });
  }

  /** What cannot be undone without an end to the process is an operator's business. */
  private deadly(step: AnyStep | undefined, seq: number): Promise<StepEnd> {
    const { run, runner, services } = this;
    const failure = describeFailure(processDied(run.task.deaths), step?.name ?? null);
    services.metrics.stepFailures.inc({
      type: run.task.type,
      step: step?.name ?? 'end',
      phase: 'undo',
      kind: 'permanent',
    });
    const attempt = run.row(seq, 'undo')?.attempt ?? runner.attemptOf(seq, 'undo');
    return this.giveUp(
      failure,
      step ? { seq, name: step.name, phase: 'undo', state: 'failed', attempt, error: storedError(failure) } : null,
    );
  }

  /**
   * Stuck: an alarm and operators' verbs, unless a task that removes the same object waits; then that one goes on from
   * here.
   */
  private async giveUp(failure: StepFailure, write: StepWrite | null): Promise<StepEnd> {
    const { run, services } = this;
    const first = run.error ?? unknownError;
    const error: StepError = {
      ...first,
      host: failure.host ?? first.host,
      hint: `It could not be undone: ${failure.step ? `"${failure.step}": ` : ''}${failure.message} An operator may retry, skip the step or abandon the task.`,
    };
    run.error = error;
    const state = await this.markStuck(error, write, true).catch(async (reason: unknown) => {
      if (reason instanceof LeaseLost) throw reason;
      services.log.error({ taskId: run.task.id, err: reason }, 'whenStuck failed: the task is marked without it');
      return this.markStuck(error, write, false);
    });
    services.log.error(
      {
        taskId: run.task.id,
        requestId: run.task.requestId,
        type: run.task.type,
        step: failure.step,
        host: failure.host,
        code: failure.code,
      },
      `task is stuck: ${error.hint}`,
    );
    run.state = state;
    return 'next';
  }

  private markStuck(error: StepError, write: StepWrite | null, withCallback: boolean): Promise<'stuck' | 'failed'> {
    const { run, services } = this;
    return inTransaction(services, async (op) => {
      if (withCallback)
        await run.definition.options.whenStuck?.(run.txContext(op, 1), { code: error.code, message: error.message });
      const seen = await services.store.stuck(op, run.hold, write ? [write] : [], error);
      await this.runner.freePlaces(op);
      const successor = seen.hasWaiter && run.task.lockKey !== null;
      if (successor) {
        await services.requests.endStuck(op, run.task.id, {
          hint: 'It could not be undone; the task that waited for it goes on from there.',
        });
        await services.requests.handOver(op, run.task.lockKey ?? '');
        await this.runner.tellParent(op, true);
        op.afterCommit(() => services.dueIn(0));
      }
      const state = successor ? 'failed' : 'stuck';
      await publishState(services, run, op, { step: error.step, state });
      return state;
    });
  }
}
