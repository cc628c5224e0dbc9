import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';
import { Outbox } from '../../events/outbox';
import type { RunState } from './run-state';
import { Workload } from './workload';
import type { TaskState } from '../definition/task-state';

/**
 * Steps inside the database take milliseconds: viewers are told of them at most this often, and less often the more
 * tasks are at work.
 */
const quietMs = 250;
const fewTasks = 4;

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

export interface TaskEventInit {
  step: string | null;
  state?: TaskState;
  progress?: number;
  undone?: boolean;
}

const data = (run: RunState, init: TaskEventInit): Record<string, unknown> => {
  const { task } = run;
  const state = init.state ?? run.state;
  const over = state === 'succeeded' || state === 'failed' || state === 'cancelled';
  return {
    id: task.id,
    type: task.type,
    state,
    projectId: task.projectId,
    subject: task.subject,
    progress: init.progress ?? run.progress,
    step: init.step,
    error: run.error && {
      code: run.error.code,
      message: run.error.message,
      step: run.error.step,
      undone: init.undone ?? false,
      hint: run.error.hint,
    },
    createdBy: task.createdBy,
    createdAt: iso(task.createdAt),
    startedAt: iso(task.startedAt),
    endedAt: over ? iso(run.now()) : null,
  };
};

/** What viewers are told of a task at work. */
@injectable()
export class TaskEvents {
  constructor(
    private readonly outbox: Outbox,
    private readonly workload: Workload,
  ) {}

  /** Tells of a change of state, in the transaction that makes it. */
  async state(run: RunState, op: Op, init: TaskEventInit): Promise<void> {
    run.lastEventAt = run.now();
    await this.outbox.publish(op, {
      type: 'task.updated',
      projectId: run.task.projectId,
      subject: { kind: 'task', id: run.task.id },
      data: data(run, init),
    });
  }

  /** Tells which step the task is at, unless something was told a moment ago. */
  async step(run: RunState, op: Op, step: string): Promise<void> {
    if (run.now() - run.lastEventAt < quietMs * Math.max(1, this.workload.running / fewTasks)) return;
    await this.state(run, op, { step });
  }
}
