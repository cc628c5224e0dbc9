import type { Op } from '../db/op';
import { Problem } from '../errors/problem';
import type { AnyStep, ChildOutcome, ChildTask } from './definition';
import { inTransaction, type RunServices } from './run-services';
import type { RunState } from './run-state';
import { jsonOutput, type StepRunner } from './step-runner';
import { publishState } from './task-event';
import type { ChildrenState } from './task-children.repository';
import type { StepWrite } from './task-row';
import { PermanentError } from './workflow-error';

type ChildrenStepOf = AnyStep & { kind: 'children' };
type Checkpoint = (op: Op, write: StepWrite) => Promise<() => void>;

/** `remember`: what to call once the step's end is stored. */
export type ChildrenEnd = { end: 'asleep' } | { end: 'done'; remember: () => void };

const mostChildren = 1_000;
/** In case the notice of a child's end was lost. Milliseconds. */
const recheckMs = 10_000;

/**
 * Starts the children of a step and waits for them, forward and in undo. Every look sees them all: notices only say
 * when to look.
 */
export class ChildrenRunner {
  constructor(
    private readonly services: RunServices,
    private readonly run: RunState,
    private readonly runner: StepRunner,
  ) {}

  /** Throws `child_failed` once all are over and one did not succeed, and `step_timeout`. */
  async forward(step: ChildrenStepOf, seq: number, checkpoint: Checkpoint): Promise<ChildrenEnd> {
    const { run, runner, services } = this;
    const { name, spec } = step;
    const row = run.row(seq, 'run');
    const parentStep = `${name}/run`;
    const deadline = runner.deadlineOf(seq, 'run', spec.timeout);
    if (!row?.accepted) {
      const attempt = runner.attemptOf(seq, 'run');
      await runner.probe(name, 'run', 'before-effect');
      return inTransaction(services, async (op) => {
        const started = await this.start(op, parentStep, await spec.start(run.txContext(op, attempt)));
        await runner.probe(name, 'run', 'after-effect');
        if (started === 0)
          return {
            end: 'done',
            remember: await checkpoint(op, { seq, name, phase: 'run', state: 'succeeded', attempt, output: [] }),
          };
        await publishState(services, run, op, { step: name });
        return this.sleep(
          op,
          { seq, name, phase: 'run', state: 'running', attempt, accepted: true },
          { total: started, live: started, failed: 0 },
          deadline,
        );
      });
    }
    return inTransaction(services, async (op) => {
      const now = await services.children.state(op, run.task.id, parentStep);
      const failing = now.failed > 0 && !spec.tolerateFailures;
      if (now.live > 0) {
        if (run.now() >= deadline)
          throw new PermanentError('step_timeout', `${now.live} of ${now.total} parts were not over in time.`);
        if (failing) await this.cancel(op, parentStep, 'Cancelled: another part of the same task failed.');
        await publishState(services, run, op, { step: name, progress: this.progress(seq, now) });
        return this.sleep(
          op,
          { seq, name, phase: 'run', state: 'running', attempt: row.attempt, accepted: true },
          now,
          deadline,
        );
      }
      const outcomes = await services.children.outcomes(op, run.task.id, parentStep);
      if (failing) throw this.failure(outcomes);
      return {
        end: 'done',
        remember: await checkpoint(op, {
          seq,
          name,
          phase: 'run',
          state: 'succeeded',
          attempt: row.attempt,
          output: jsonOutput(outcomes),
        }),
      };
    });
  }

  /** Ends the children that are still at work, then runs those of the undo, if it has any. */
  async undo(step: ChildrenStepOf, seq: number, checkpoint: Checkpoint): Promise<ChildrenEnd> {
    const { run, runner, services } = this;
    const { name, spec } = step;
    const row = run.row(seq, 'undo');
    const call = row?.call ?? 0;
    const undoStep = `${name}/undo${call > 0 ? `/${call}` : ''}`;
    const deadline = run.undoDeadline ?? Number.POSITIVE_INFINITY;
    const write: StepWrite = { seq, name, phase: 'undo', state: 'running', attempt: row?.attempt ?? 1, call };
    if (!row?.accepted) await runner.probe(name, 'undo', 'before-effect');
    return inTransaction(services, async (op) => {
      if (!row?.accepted) {
        const forward = await services.children.state(op, run.task.id, `${name}/run`);
        if (forward.live > 0) {
          await this.cancel(op, `${name}/run`, 'Cancelled: the task that it is a part of stops.');
          return this.sleep(op, write, forward, deadline);
        }
        const started = await this.start(
          op,
          undoStep,
          spec.undo ? await spec.undo(run.txContext(op, write.attempt)) : [],
        );
        await runner.probe(name, 'undo', 'after-effect');
        if (started > 0)
          return this.sleep(op, { ...write, accepted: true }, { total: started, live: started, failed: 0 }, deadline);
      } else {
        const now = await services.children.state(op, run.task.id, undoStep);
        if (now.live > 0) return this.sleep(op, { ...write, accepted: true }, now, deadline);
        if (now.failed > 0) throw this.failure(await services.children.outcomes(op, run.task.id, undoStep));
      }
      return { end: 'done', remember: await checkpoint(op, { ...write, state: 'succeeded' }) };
    });
  }

  private async start(op: Op, parentStep: string, children: ChildTask[]): Promise<number> {
    const { run, services } = this;
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
        const { created } = await services.queue.add(op, definition, input, options, { id: task.id, step: parentStep });
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

  private async cancel(op: Op, parentStep: string, reason: string): Promise<void> {
    const { run, services } = this;
    if ((await services.children.cancel(op, run.task.id, parentStep, reason)) > 0) services.wakeUps.workers(op, true);
  }

  private async sleep(op: Op, write: StepWrite, state: ChildrenState, deadline: number): Promise<ChildrenEnd> {
    const { run, runner } = this;
    const pause = Math.max(1, Math.min(recheckMs, deadline - run.now()));
    const progress = write.phase === 'run' ? this.progress(write.seq, state) : run.progress;
    await runner.nap(write, pause, op, { childrenLeft: state.live, progress });
    return { end: 'asleep' };
  }

  /** Of the whole task, in percent: the part of this step as far as its children are over. */
  private progress(seq: number, { total, live }: ChildrenState): number {
    return Math.floor((100 * (seq + (total === 0 ? 1 : (total - live) / total))) / this.run.steps.length);
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
