import { injectable } from 'inversify';
import type { Op } from '../../../core/db/op';
import type { StepError } from '../../../core/workflow/step-failure';
import type { TaskState } from '../../../core/workflow/workflows';

export interface TaskRow {
  id: string;
  type: string;
  version: number;
  state: TaskState;
  projectId: string | null;
  subjectKind: string;
  subjectId: string;
  subjectName: string;
  progress: number;
  step: string | null;
  error: StepError | null;
  undone: boolean;
  createdBy: string;
  requestId: string | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  /** The sort key with microseconds, which a Date would cut off. */
  createdKey: string;
}

export interface TaskStepRow {
  seq: number;
  name: string;
  phase: 'run' | 'undo';
  state: 'running' | 'succeeded' | 'failed' | 'skipped';
  attempt: number;
  hostId: string | null;
  progress: number | null;
  startedAt: Date;
  endedAt: Date | null;
  error: StepError | null;
}

export interface TaskFilter {
  /** Null projects are only seen by `all`. */
  projects: 'all' | readonly string[];
  state?: TaskState | 'live' | undefined;
  type?: string | undefined;
  subject?: string | undefined;
  after?: { created: string; id: string } | undefined;
  limit: number;
}

const columns = `id, type, version, state, project_id AS "projectId", subject_kind AS "subjectKind", subject_id AS "subjectId", subject_name AS "subjectName",
  progress, step, error, undone, created_by AS "createdBy", request_id AS "requestId", created_at AS "createdAt", started_at AS "startedAt", ended_at AS "endedAt",
  to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "createdKey"`;
const live = `state IN ('queued', 'running', 'compensating', 'stuck')`;

/** Reads the engine's tables for users; only the engine writes them. */
@injectable()
export class TaskRepository {
  /** Newest first, `limit` rows after `after`. */
  async page(op: Op, filter: TaskFilter): Promise<TaskRow[]> {
    const where: string[] = [];
    const params: unknown[] = [];
    const add = (condition: (n: number) => string, ...values: unknown[]): void => {
      where.push(condition(params.length + 1));
      params.push(...values);
    };
    if (filter.projects !== 'all') add((n) => `project_id = ANY($${n}::uuid[])`, filter.projects);
    if (filter.state === 'live') where.push(live);
    else if (filter.state !== undefined) add((n) => `state = $${n}`, filter.state);
    if (filter.type !== undefined) add((n) => `type = $${n}`, filter.type);
    if (filter.subject !== undefined) add((n) => `subject_id = $${n}`, filter.subject);
    if (filter.after) add((n) => `(created_at, id) < ($${n}::timestamptz, $${n + 1}::uuid)`, filter.after.created, filter.after.id);
    params.push(filter.limit);
    return op.query<TaskRow>(
      `SELECT ${columns} FROM task ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY created_at DESC, id DESC LIMIT $${params.length}`,
      params,
    );
  }

  async byId(op: Op, id: string): Promise<TaskRow | undefined> {
    return (await op.query<TaskRow>(`SELECT ${columns} FROM task WHERE id = $1`, [id]))[0];
  }

  async steps(op: Op, taskId: string): Promise<TaskStepRow[]> {
    return op.query<TaskStepRow>(
      `SELECT seq, name, phase, state, attempt, host_id AS "hostId", progress, started_at AS "startedAt", ended_at AS "endedAt", error
         FROM task_step WHERE task_id = $1 ORDER BY seq`,
      [taskId],
    );
  }
}
