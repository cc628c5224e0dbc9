import { injectable } from 'inversify';
import { Database } from '../../db/database';
import type { Op } from '../../db/rows/op';
import type { StepError } from '../definition/step-error';
import type { TaskState } from '../definition/task-state';

export interface NewTask {
  id: string;
  type: string;
  version: number;
  projectId: string | null;
  subject: { kind: string; id: string; name: string };
  input: unknown;
  firstStep: string;
  lockKey: string | null;
  lockState: 'held' | 'waiting' | null;
  deadlineMs: number;
  createdBy: string;
  requestId: string | null;
  priority: number;
  parent: { id: string; step: string } | null;
}

export interface LockHolder {
  id: string;
  type: string;
  version: number;
  state: TaskState;
}

export interface OperatedTask extends LockHolder {
  lockKey: string | null;
  cursor: number;
  hasWaiter: boolean;
}

const live = `state NOT IN ('succeeded', 'failed', 'cancelled')`;
/** A sleeping task becomes due at once; one that a worker has is only marked, so that it does not fall asleep. */
const woken = `wake_seq = wake_seq + 1, wake_at = CASE WHEN lease_until IS NULL AND wake_at IS NOT NULL THEN clock_timestamp() ELSE wake_at END`;

/** Statements of those who ask for something: services, operators, nodes. */
@injectable()
export class TaskRequestRepository {
  constructor(private readonly database: Database) {}

  /** False when another live task holds the lock key. Waits for an uncommitted rival to commit or roll back. */
  async insert(op: Op, task: NewTask): Promise<boolean> {
    const rows = await this.database.query<{ id: string }>(
      `INSERT INTO task (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, step, lock_key, lock_state, wake_at, deadline_ms, created_by, request_id, priority, parent_id, parent_step)
       VALUES ($1, $2, $3, $4, $5, $6, $7, 'queued', $8, $9, $10, $11::text, CASE WHEN $11::text = 'waiting' THEN NULL ELSE clock_timestamp() END, $12, $13, $14, $15, $16, $17)
       ON CONFLICT (lock_key) WHERE lock_state = 'held' DO NOTHING RETURNING id`,
      [
        task.id,
        task.type,
        task.version,
        task.projectId,
        task.subject.kind,
        task.subject.id,
        task.subject.name,
        JSON.stringify(task.input ?? null),
        task.firstStep,
        task.lockKey,
        task.lockState,
        task.deadlineMs,
        task.createdBy,
        task.requestId,
        task.priority,
        task.parent?.id ?? null,
        task.parent?.step ?? null,
      ],
      op,
    );
    return rows.length > 0;
  }

  /** The task that holds the key, locked until the transaction ends: it cannot end meanwhile. */
  async lockHolder(op: Op, lockKey: string): Promise<LockHolder | undefined> {
    const rows = await this.database.query<LockHolder>(
      `SELECT id, type, version, state FROM task WHERE lock_key = $1 AND lock_state = 'held' FOR UPDATE`,
      [lockKey],
      op,
    );
    return rows[0];
  }

  /** Marks the holder, so that it hands its lock over when it ends. Returns how many wait already. */
  async joinQueue(op: Op, holderId: string, lockKey: string): Promise<number> {
    await op.query('UPDATE task SET has_waiter = true WHERE id = $1', [holderId]);
    const [row] = await op.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM task WHERE lock_key = $1 AND lock_state = 'waiting'`,
      [lockKey],
    );
    return row?.n ?? 0;
  }

  async waiterOf(op: Op, lockKey: string, type: string): Promise<string | undefined> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM task WHERE lock_key = $1 AND lock_state = 'waiting' AND type = $2 AND cancel_requested_at IS NULL ORDER BY created_at, id LIMIT 1`,
      [lockKey, type],
      op,
    );
    return rows[0]?.id;
  }

  /** Cancels the holder in favour of a waiter. */
  async preempt(op: Op, taskId: string, by: string, reason: string): Promise<void> {
    await this.database.query(
      `UPDATE task SET cancel_requested_at = COALESCE(cancel_requested_at, clock_timestamp()), cancel_by = COALESCE(cancel_by, $2), cancel_reason = COALESCE(cancel_reason, $3),
              has_waiter = true, ${woken} WHERE id = $1`,
      [taskId, by, reason],
      op,
    );
  }

  /**
   * False when the task is over or unknown, or has begun and is of a type that only goes forward.
   * @param goingForward `type@version` of those
   */
  async cancel(op: Op, taskId: string, by: string, reason: string, goingForward: readonly string[]): Promise<boolean> {
    const rows = await op.query<{ id: string }>(
      `UPDATE task SET cancel_requested_at = COALESCE(cancel_requested_at, clock_timestamp()), cancel_by = COALESCE(cancel_by, $2), cancel_reason = COALESCE(cancel_reason, $3),
              wake_seq = wake_seq + 1,
              wake_at = CASE WHEN lease_until IS NULL AND (wake_at IS NOT NULL OR lock_state = 'waiting') AND state <> 'stuck' THEN clock_timestamp() ELSE wake_at END
        WHERE id = $1 AND ${live} AND (state = 'queued' OR type || '@' || version <> ALL ($4::text[])) RETURNING id`,
      [taskId, by, reason, goingForward],
    );
    return rows.length > 0;
  }

  async wakeByLock(op: Op, lockKey: string): Promise<void> {
    await this.database.query(
      `UPDATE task SET ${woken} WHERE lock_key = $1 AND lock_state = 'held' AND state <> 'stuck'`,
      [lockKey],
      op,
    );
  }

  async wakeById(op: Op, taskId: string): Promise<void> {
    await this.database.query(`UPDATE task SET ${woken} WHERE id = $1 AND ${live} AND state <> 'stuck'`, [taskId], op);
  }

  /** The task's project; undefined when the step does not run on that host (null: in management). */
  async progress(
    op: Op,
    taskId: string,
    step: string,
    phase: string,
    hostId: string | null,
    percent: number,
    message: string,
  ): Promise<{ projectId: string | null } | undefined> {
    const rows = await op.query<{ projectId: string | null }>(
      `UPDATE task_step s SET progress = $5, message = $6 FROM task t
        WHERE t.id = s.task_id AND s.task_id = $1 AND s.name = $2 AND s.phase = $3 AND s.host_id IS NOT DISTINCT FROM $4::uuid AND s.state = 'running' RETURNING t.project_id AS "projectId"`,
      [taskId, step, phase, hostId, percent, message],
    );
    return rows[0];
  }

  /** Locks a task for an operator's verb. */
  async forOperator(op: Op, taskId: string): Promise<OperatedTask | undefined> {
    const rows = await this.database.query<OperatedTask>(
      `SELECT id, type, version, state, lock_key AS "lockKey", cursor, has_waiter AS "hasWaiter" FROM task WHERE id = $1 FOR UPDATE`,
      [taskId],
      op,
    );
    return rows[0];
  }

  /** A stuck task goes on undoing at `cursor` with a new deadline. */
  async resume(op: Op, taskId: string, cursor: number): Promise<void> {
    await this.database.query(
      `UPDATE task SET state = 'compensating', cursor = $2, deaths = 0, undo_deadline = clock_timestamp() + deadline_ms * interval '1 millisecond',
              wake_at = clock_timestamp(), wake_seq = wake_seq + 1 WHERE id = $1 AND state = 'stuck'`,
      [taskId, cursor],
      op,
    );
  }

  /** The step whose undo a stuck task is at: the last started one that is not undone. */
  async firstToUndo(op: Op, taskId: string): Promise<{ seq: number; name: string } | undefined> {
    const rows = await this.database.query<{ seq: number; name: string }>(
      `SELECT u.seq, u.name FROM task_step u WHERE u.task_id = $1 AND u.phase = 'undo' AND u.state IN ('running', 'failed') ORDER BY u.seq LIMIT 1`,
      [taskId],
      op,
    );
    return rows[0];
  }

  async skipUndo(op: Op, taskId: string, seq: number, name: string): Promise<void> {
    await this.database.query(
      `INSERT INTO task_step (task_id, seq, name, phase, state, ended_at) VALUES ($1, $2, $3, 'undo', 'skipped', clock_timestamp())
       ON CONFLICT (task_id, seq, phase) DO UPDATE SET state = 'skipped', ended_at = clock_timestamp()`,
      [taskId, seq, name],
      op,
    );
  }

  /** Ends a stuck task that was not undone, and gives up its lock. */
  async endStuck(
    op: Op,
    taskId: string,
    error: Pick<StepError, 'hint'>,
  ): Promise<{ parentId: string | null } | undefined> {
    const [row] = await op.query<{ parentId: string | null }>(
      `UPDATE task SET state = 'failed', undone = false, lock_state = NULL, has_waiter = false, wake_at = NULL, ended_at = clock_timestamp(),
              error = COALESCE(error, '{}'::jsonb) || jsonb_build_object('hint', $2::text) WHERE id = $1 AND state = 'stuck' RETURNING parent_id AS "parentId"`,
      [taskId, error.hint],
    );
    return row;
  }

  /**
   * Gives a free lock key to the oldest task that waits for it. Call in the transaction that freed it. Returns that
   * task's id.
   */
  async handOver(op: Op, lockKey: string): Promise<string | undefined> {
    const rows = await op.query<{ id: string }>(
      `UPDATE task t SET lock_state = 'held', wake_seq = wake_seq + 1,
              wake_at = CASE WHEN t.lease_until IS NULL THEN clock_timestamp() ELSE t.wake_at END,
              has_waiter = EXISTS (SELECT 1 FROM task o WHERE o.lock_key = $1 AND o.lock_state = 'waiting' AND o.id <> t.id)
         FROM (SELECT id FROM task WHERE lock_key = $1 AND lock_state = 'waiting' ORDER BY priority, created_at, id LIMIT 1 FOR UPDATE) w
        WHERE t.id = w.id RETURNING t.id`,
      [lockKey],
    );
    return rows[0]?.id;
  }

  /**
   * Wakes those that have waited longest for a slot under a limit: at most `count`, and no more than there are free
   * slots. True when one was.
   */
  async wakeWaiting(scope: string, slots: number, count: number): Promise<boolean> {
    const rows = await this.database.query(
      `UPDATE task SET wake_at = clock_timestamp(), wake_seq = wake_seq + 1, waiting_for = NULL WHERE id IN (
         SELECT id FROM task WHERE waiting_for = $1 AND lease_until IS NULL ORDER BY priority, created_at
          LIMIT GREATEST(0, LEAST($3::int, $2::int - (SELECT count(*)::int FROM task_slot WHERE scope = $1))) FOR UPDATE SKIP LOCKED)
       RETURNING id`,
      [scope, slots, count],
    );
    return rows.length > 0;
  }

  async state(taskId: string): Promise<TaskState | undefined> {
    const rows = await this.database.query<{ state: TaskState }>('SELECT state FROM task_history WHERE id = $1', [
      taskId,
    ]);
    return rows[0]?.state;
  }

  /** `type@version` of all tasks that are not over. */
  async liveKeys(): Promise<string[]> {
    const rows = await this.database.query<{ key: string }>(
      `SELECT DISTINCT type || '@' || version AS key FROM task WHERE state IN ('queued', 'running', 'compensating', 'stuck')`,
    );
    return rows.map((row) => row.key);
  }

  async stuckCount(): Promise<number> {
    const rows = await this.database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM task WHERE state IN ('queued', 'running', 'compensating', 'stuck') AND state = 'stuck'`,
    );
    return rows[0]?.n ?? 0;
  }

  async notify(channel: string, payload: string): Promise<void> {
    await this.database.query('SELECT pg_notify($1, $2)', [channel, payload]);
  }
}
