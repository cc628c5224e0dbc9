import { injectable } from 'inversify';
import type { Op } from '../../../core/db/rows/op';
import type { AuditVerb } from '../contract/task.api';
import {
  createdKey,
  listColumns,
  type TaskAuditRow,
  type TaskDetailRow,
  type TaskRow,
  type TaskStepRow,
} from './task.row';

export interface NewAudit {
  taskId: string;
  verb: AuditVerb;
  step: string | null;
  reason: string | null;
  by: { id: string; name: string };
  requestId: string;
}

const detailColumns = `${listColumns}, ${createdKey('t.created_at')}, t.waiting_for AS "waitingFor", t.children_left AS "childrenLeft",
  t.wake_at AS "wakeAt", t.cancel_requested_at AS "cancelRequestedAt", t.cancel_reason AS "cancelReason", clock_timestamp() AS now,
  EXISTS (SELECT 1 FROM task_audit a WHERE a.task_id = t.id) AS audited`;
const stepColumns = `task_id AS "taskId", seq, name, phase, state, attempt, host_id AS "hostId", accepted, progress, message, started_at AS "startedAt", ended_at AS "endedAt", error`;
const childrenShown = 100;

/**
 * Reads the engine's tables and their archive for users; only the engine writes them. The record of operators' verbs is
 * this module's own.
 */
@injectable()
export class TaskRepository {
  async byId(op: Op, id: string): Promise<TaskDetailRow | undefined> {
    const rows = await op.query<TaskDetailRow>(
      `SELECT ${detailColumns}, t.lease_until IS NULL AS asleep, t.awaited_lock AS "awaitedLock", t.lock_state AS "lockState" FROM task t WHERE t.id = $1
       UNION ALL SELECT ${detailColumns}, true AS asleep, NULL, NULL FROM task_archive t WHERE t.id = $1`,
      [id],
    );
    return rows[0];
  }

  /** In no order; those that are nowhere any more are left out. */
  async byIds(op: Op, ids: readonly string[]): Promise<TaskRow[]> {
    return op.query<TaskRow>(
      `SELECT ${listColumns}, '' AS "createdKey" FROM task_history t WHERE t.id = ANY($1::uuid[])`,
      [ids],
    );
  }

  /** Of one or several tasks, in the order of the definition. */
  async steps(op: Op, taskIds: readonly string[]): Promise<TaskStepRow[]> {
    if (taskIds.length === 0) return [];
    const [one] = taskIds.length === 1 ? taskIds : [];
    // How many an array has the server only knows when it is there, and so plans anew each time.
    return op.query<TaskStepRow>(
      `SELECT ${stepColumns} FROM task_step_history WHERE task_id = ${one === undefined ? 'ANY($1::uuid[])' : '$1'} ORDER BY task_id, seq, phase`,
      [one ?? taskIds],
    );
  }

  /** The first ones, oldest first. */
  async children(op: Op, parentId: string): Promise<TaskRow[]> {
    return op.query<TaskRow>(
      `SELECT ${listColumns}, '' AS "createdKey" FROM task_history t WHERE t.parent_id = $1 ORDER BY t.created_at, t.id LIMIT $2`,
      [parentId, childrenShown],
    );
  }

  /** The task that holds a lock key. */
  async holder(op: Op, lockKey: string): Promise<{ id: string; type: string } | undefined> {
    return (
      await op.query<{ id: string; type: string }>(
        `SELECT t.id, t.type FROM task_lock l JOIN task t ON t.id = l.task_id WHERE l.key = $1`,
        [lockKey],
      )
    )[0];
  }

  /** How many slots are taken under a limit. */
  async slots(op: Op, scope: string): Promise<number> {
    return (
      (await op.query<{ n: number }>('SELECT count(*)::int AS n FROM task_slot WHERE scope = $1', [scope]))[0]?.n ?? 0
    );
  }

  async audit(op: Op, taskId: string): Promise<TaskAuditRow[]> {
    return op.query<TaskAuditRow>(
      `SELECT at, verb, step, reason, by_id AS "byId", by_name AS "byName", request_id AS "requestId" FROM task_audit WHERE task_id = $1 ORDER BY id`,
      [taskId],
    );
  }

  async record(op: Op, audit: NewAudit): Promise<void> {
    await op.query(
      `INSERT INTO task_audit (task_id, verb, step, reason, by_id, by_name, request_id) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [audit.taskId, audit.verb, audit.step, audit.reason, audit.by.id, audit.by.name, audit.requestId],
    );
  }

  /** Forgets the record of tasks that are nowhere any more, some at a time. */
  async pruneAudit(op: Op): Promise<void> {
    await op.query(
      `DELETE FROM task_audit WHERE id IN (
         SELECT a.id FROM task_audit a
          WHERE NOT EXISTS (SELECT 1 FROM task t WHERE t.id = a.task_id) AND NOT EXISTS (SELECT 1 FROM task_archive t WHERE t.id = a.task_id)
          ORDER BY a.id LIMIT 10000)`,
    );
  }
}
