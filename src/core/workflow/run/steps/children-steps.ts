import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import type { Op } from '../../../db/rows/op';
import { Problem } from '../../../errors/problem';
import type { ChildOutcome, ChildTask } from '../../definition/definition';
import { PermanentError } from '../../definition/workflow-error';
import { TaskQueue } from '../../request/task-queue';
import { WakeUps } from '../../request/wake-ups';
import { EngineTransactions } from '../../storage/engine-transactions';
import { TaskChildrenRepository, type ChildrenState } from '../../storage/task-children.repository';
import type { StepWrite } from '../../storage/task-row';
import { Checkpoints, type Remember } from '../checkpoints';
import { jsonOutput } from '../json-output';
import type { RunState, StepEnd } from '../run-state';
import { StepObserver } from '../step-observer';
import { TaskEvents } from '../task-events';
import { TaskSleep } from '../task-sleep';
import type { StepKind, StepOf } from './step-kind';

/** What to call once the step's end is stored; undefined when the task sleeps. */
type ChildrenEnd = Remember | undefined;

const mostChildren = 1_000;
/** In case the notice of a child's end was lost. Milliseconds. */
const recheckMs = 10_000;

const allLive = (count: number): ChildrenState => ({ total: count, live: count, failed: 0 });

/** Of the whole task, in percent: the part of this step as far as its children are over. */
const progressOf = (run: RunState, seq: number, { total, live }: ChildrenState): number =>
  run.progressAt(seq + (total === 0 ? 1 : (total - live) / total));

/**
 * Steps that start tasks and wait for them, forward and in undo. Every look sees them all: notices only say when to
 * look.
 */
@injectable()
export class ChildrenSteps implements StepKind<'children'> {
  constructor(
    private readonly transactions: EngineTransactions,
    private readonly parts: TaskChildrenRepository,
    private readonly queue: TaskQueue,
    private readonly checkpoints: Checkpoints,
    private readonly sleep: TaskSleep,
    private readonly events: TaskEvents,
    private readonly observer: StepObserver,
    private readonly wakeUps: WakeUps,
  ) {}

  /** Throws `child_failed` once all are over and one did not succeed, and `step_timeout`. */
  async forward(run: RunState, step: StepOf<'children'>, seq: number): Promise<StepEnd> {
    const since = performance.now();
    const accepted = run.row(seq, 'run')?.accepted;
    const done = await (accepted ? this.look(run, step, seq) : this.begin(run, step, seq));
    return done ? this.checkpoints.passed(run, step, done, since) : 'asleep';
  }

  /** Ends the children that are still at work, then runs those of the undo, if it has any. */
  async undo(run: RunState, step: StepOf<'children'>, seq: number): Promise<StepEnd> {
    const { name, spec } = step;
    const row = run.row(seq, 'undo');
    const call = row?.call ?? 0;
    const undoStep = `${name}/undo${call > 0 ? `/${call}` : ''}`;
    const deadline = run.undoUntil;
    const write: StepWrite = { seq, name, phase: 'undo', state: 'running', attempt: row?.attempt ?? 1, call };
    if (!row?.accepted) await this.observer.at(run, name, 'undo', 'before-effect');
    const done = await this.transactions.run(async (op): Promise<ChildrenEnd> => {
      if (!row?.accepted) {
        const forward = await this.parts.state(op, run.task.id, `${name}/run`);
        if (forward.live > 0) {
          await this.cancel(run, op, `${name}/run`, 'Cancelled: the task that it is a part of stops.');
          return this.rest(run, op, write, forward, deadline);
        }
        const children = spec.undo ? await spec.undo(run.txContext(op, write.attempt)) : [];
        const started = await this.start(run, op, undoStep, children);
        await this.observer.at(run, name, 'undo', 'after-effect');
        if (started > 0) return this.rest(run, op, { ...write, accepted: true }, allLive(started), deadline);
      } else {
        const now = await this.parts.state(op, run.task.id, undoStep);
        if (now.live > 0) return this.rest(run, op, { ...write, accepted: true }, now, deadline);
        if (now.failed > 0) throw this.failure(await this.parts.outcomes(op, run.task.id, undoStep));
      }
      return this.checkpoints.backward(run, op, { ...write, state: 'succeeded' });
    });
    if (!done) return 'asleep';
    done();
    return 'next';
  }

  private async begin(run: RunState, { name, spec }: StepOf<'children'>, seq: number): Promise<ChildrenEnd> {
    const attempt = run.nextAttempt(seq, 'run');
    const deadline = run.deadlineOf(seq, spec.timeout);
    await this.observer.at(run, name, 'run', 'before-effect');
    return this.transactions.run(async (op) => {
      const started = await this.start(run, op, `${name}/run`, await spec.start(run.txContext(op, attempt)));
      await this.observer.at(run, name, 'run', 'after-effect');
      if (started === 0)
        return this.checkpoints.forward(run, op, [
          { seq, name, phase: 'run', state: 'succeeded', attempt, output: [] },
        ]);
      await this.events.state(run, op, { step: name });
      const write: StepWrite = { seq, name, phase: 'run', state: 'running', attempt, accepted: true };
      return this.rest(run, op, write, allLive(started), deadline);
    });
  }

  private look(run: RunState, { name, spec }: StepOf<'children'>, seq: number): Promise<ChildrenEnd> {
    const parentStep = `${name}/run`;
    const deadline = run.deadlineOf(seq, spec.timeout);
    const attempt = run.row(seq, 'run')?.attempt ?? 1;
    return this.transactions.run(async (op) => {
      const now = await this.parts.state(op, run.task.id, parentStep);
      const failing = now.failed > 0 && !spec.tolerateFailures;
      if (now.live > 0) {
        if (run.now() >= deadline)
          throw new PermanentError('step_timeout', `${now.live} of ${now.total} parts were not over in time.`);
        if (failing) await this.cancel(run, op, parentStep, 'Cancelled: another part of the same task failed.');
        await this.events.state(run, op, { step: name, progress: progressOf(run, seq, now) });
        const write: StepWrite = { seq, name, phase: 'run', state: 'running', attempt, accepted: true };
        return this.rest(run, op, write, now, deadline);
      }
      const outcomes = await this.parts.outcomes(op, run.task.id, parentStep);
      if (failing) throw this.failure(outcomes);
      const output = jsonOutput(outcomes);
      return this.checkpoints.forward(run, op, [{ seq, name, phase: 'run', state: 'succeeded', attempt, output }]);
    });
  }

  private async start(run: RunState, op: Op, parentStep: string, children: ChildTask[]): Promise<number> {
    const { task } = run;
    if (children.length > mostChildren)
      throw new PermanentError(
        'too_many_children',
        `A step may start ${mostChildren} tasks at most, not ${children.length}.`,
      );
    for (const { definition, input, subject } of children) {
      const options = {
        projectId: task.projectId,
        subject,
        createdBy: task.createdBy,
        ...(task.requestId !== null && { requestId: task.requestId }),
      };
      try {
        const { created } = await this.queue.add(op, definition, input, options, { id: task.id, step: parentStep });
        if (!created)
          throw new PermanentError(
            'child_joined',
            `"${subject.name}" has such a task already, which is not a part of this one.`,
          );
      } catch (error) {
        // Another task has the lock for now: tried again later, all together.
        if (error instanceof Problem && error.code === 'task_running')
          throw new Problem({ status: 503, code: error.code, detail: error.message, extra: error.extra });
        throw error;
      }
    }
    return children.length;
  }

  private async cancel(run: RunState, op: Op, parentStep: string, reason: string): Promise<void> {
    if ((await this.parts.cancel(op, run.task.id, parentStep, reason)) > 0) this.wakeUps.workers(op, true);
  }

  private async rest(
    run: RunState,
    op: Op,
    write: StepWrite,
    state: ChildrenState,
    deadline: number,
  ): Promise<undefined> {
    const pause = Math.max(1, Math.min(recheckMs, deadline - run.now()));
    const progress = write.phase === 'run' ? progressOf(run, write.seq, state) : run.progress;
    await this.sleep.nap(run, op, write, pause, { childrenLeft: state.live, progress });
  }

  private failure(outcomes: ChildOutcome[]): PermanentError {
    const failed = outcomes.filter(({ state }) => state !== 'succeeded');
    // Those that were cancelled because of the first say nothing of the cause.
    const first = failed.find(({ state }) => state === 'failed') ?? failed[0];
    const why = first?.error?.message ?? `it is ${first?.state ?? 'gone'}`;
    return new PermanentError(
      'child_failed',
      `${failed.length} of ${outcomes.length} parts did not succeed. "${first?.subject.name ?? ''}": ${why}`,
      { children: failed.slice(0, 20).map(({ id }) => id) },
      first?.error?.cause,
    );
  }
}
