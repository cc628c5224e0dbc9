import type { StepError } from '../../../core/workflow/definition/step-error';
import type { TaskState } from '../../../core/workflow/definition/task-state';
import type { AuditVerb } from '../contract/task.api';

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
  parentId: string | null;
  children: number;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  /** The sort key with microseconds, which a Date would cut off. */
  createdKey: string;
}

/** With what only one task's page needs. */
export interface TaskDetailRow extends TaskRow {
  /** The lock in whose queue it is. */
  awaitedLock: string | null;
  lockState: 'held' | 'waiting' | null;
  /** Operators' verbs on it are recorded. */
  audited: boolean;
  /** The limit that it waits to come under. */
  waitingFor: string | null;
  childrenLeft: number;
  /** No worker has it at the moment. */
  asleep: boolean;
  wakeAt: Date | null;
  cancelRequestedAt: Date | null;
  cancelReason: string | null;
  /** The database's clock. */
  now: Date;
}

export interface TaskStepRow {
  taskId: string;
  seq: number;
  name: string;
  phase: 'run' | 'undo';
  state: 'running' | 'succeeded' | 'failed' | 'skipped';
  attempt: number;
  hostId: string | null;
  /** The host works on it by itself. */
  accepted: boolean;
  progress: number | null;
  message: string | null;
  startedAt: Date;
  endedAt: Date | null;
  error: StepError | null;
}

export interface TaskAuditRow {
  at: Date;
  verb: AuditVerb;
  step: string | null;
  reason: string | null;
  byId: string;
  byName: string;
  requestId: string;
}

/** Columns of a list, the same in the engine's table and in its archive. */
export const listColumns = `t.id, t.type, t.version, t.state, t.project_id AS "projectId", t.subject_kind AS "subjectKind", t.subject_id AS "subjectId", t.subject_name AS "subjectName",
  t.progress, t.step, t.error, t.undone, t.created_by AS "createdBy", t.request_id AS "requestId", t.parent_id AS "parentId", t.children,
  t.created_at AS "createdAt", t.started_at AS "startedAt", t.ended_at AS "endedAt"`;
export const createdKey = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "createdKey"`;
