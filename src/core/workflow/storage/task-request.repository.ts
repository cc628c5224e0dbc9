import { injectable } from 'inversify';
import { Database } from '../../db/database';
import type { Op } from '../../db/rows/op';
import type { StepError } from '../definition/step-error';
import type { TaskState } from '../definition/task-state';
import type { ClaimedTask } from './task-row';

export interface NewTask {
  id: string;
  type: string;
  version: number;
  projectId: string | null;
  subject: { kind: string; id: string; name: string };
  input: unknown;
  firstStep: string;
  /** In the order in which they are taken; null without any. */
  lockKeys: readonly string[] | null;
  deadlineMs: number;
  createdBy: string;
  requestId: string | null;
  priority: number;
  parent: { id: string; step: string } | null;
  /** The worker of this process that takes it up with the commit, as if it had claimed it; null: it is queued. */
  worker: Worker | null;
}

/** Who takes a task up, and how long it is his without a renewal. */
export interface Worker {
  owner: string;
  leaseMs: number;
}

/** What came of an insert. `begun`: the task as its worker has it. */
export interface Inserted {
  begun: ClaimedTask | null;
}

export interface OperatedTask {
  id: string;
  type: string;
  version: number;
  state: TaskState;
  lockKeys: readonly string[] | null;
  cursor: number;
}

/**
 * $10: its lock keys; all but the last are taken before. The last is taken here, unless it waits for one of them ($11):
 * the task exists exactly when it has that one, or waits. $18: the worker that it belongs to from the start, for $19.
 */
const insertStatement = `
  WITH taken AS (
    INSERT INTO task_lock (key, task_id) SELECT ($10::text[])[cardinality($10::text[])], $1::uuid WHERE $10::text[] IS NOT NULL AND $11::text IS NULL
    ON CONFLICT DO NOTHING RETURNING key)
  INSERT INTO task (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, step, lock_keys, lock_state, awaited_lock, wake_at, deadline_ms, created_by, request_id, priority, parent_id, parent_step,
                    owner, fence, lease_until, deadline, created_at, started_at)
  SELECT $1::uuid, $2::text, $3::int, $4::uuid, $5::text, $6::uuid, $7::text, CASE WHEN $18::text IS NULL THEN 'queued' ELSE 'running' END, $8::jsonb, $9::text, $10::text[],
         CASE WHEN $11::text IS NOT NULL THEN 'waiting' WHEN $10::text[] IS NOT NULL THEN 'held' END, $11::text,
         CASE WHEN $18::text IS NOT NULL THEN c.now + $19::float8 * interval '1 millisecond' WHEN $11::text IS NULL THEN c.now END,
         $12::bigint, $13::text, $14::text, $15::smallint, $16::uuid, $17::text,
         $18::text, CASE WHEN $18::text IS NULL THEN 0 ELSE 1 END, CASE WHEN $18::text IS NOT NULL THEN c.now + $19::float8 * interval '1 millisecond' END,
         CASE WHEN $18::text IS NOT NULL THEN c.now + $12::bigint * interval '1 millisecond' END, c.now, CASE WHEN $18::text IS NOT NULL THEN c.now END
    FROM (SELECT clock_timestamp() AS now OFFSET 0) c
   WHERE $10::text[] IS NULL OR $11::text IS NOT NULL OR EXISTS (SELECT 1 FROM taken)
  RETURNING (extract(epoch FROM created_at) * 1000)::float8 AS "createdAt"`;
const live = `state NOT IN ('succeeded', 'failed', 'cancelled')`;
/** A sleeping task becomes due at once; one that a worker has is only marked, so that it does not fall asleep. */
const woken = `wake_seq = wake_seq + 1, wake_at = CASE WHEN lease_until IS NULL AND wake_at IS NOT NULL THEN clock_timestamp() ELSE wake_at END`;
/** $2: by whom, $3: why. Who asked first is kept. One that sleeps, or waits for a lock, sees it at once. */
const stopAsked = `cancel_requested_at = COALESCE(cancel_requested_at, clock_timestamp()), cancel_by = COALESCE(cancel_by, $2), cancel_reason = COALESCE(cancel_reason, $3),
  wake_seq = wake_seq + 1, wake_at = CASE WHEN lease_until IS NULL AND (wake_at IS NOT NULL OR lock_state = 'waiting') AND state <> 'stuck' THEN clock_timestamp() ELSE wake_at END`;

/** The row of a new task as a claim would have returned it. */
const begun = (task: NewTask, now: number): ClaimedTask => ({
  id: task.id,
  type: task.type,
  version: task.version,
  projectId: task.projectId,
  subject: task.subject,
  state: 'running',
  input: JSON.parse(JSON.stringify(task.input ?? null)) as unknown,
  lockKeys: task.lockKeys && [...task.lockKeys],
  lockState: task.lockKeys && 'held',
  cursor: 0,
  progress: 0,
  fence: '1',
  deaths: 0,
  wakeSeq: '0',
  deadline: now + task.deadlineMs,
  deadlineMs: task.deadlineMs,
  undoDeadline: null,
  cancelled: false,
  cancelReason: null,
  outcome: null,
  error: null,
  createdBy: task.createdBy,
  requestId: task.requestId,
  priority: task.priority,
  parentId: task.parent?.id ?? null,
  parentStep: task.parent?.step ?? null,
  createdAt: now,
  startedAt: now,
  now,
});

/** Statements of those who ask for something: services, operators, nodes. */
@injectable()
export class TaskRequestRepository {
  constructor(private readonly database: Database) {}

  /**
   * With the last of its locks, or in the queue for `awaited`, which nobody takes up yet. Undefined when another task
   * holds that last one. Waits for an uncommitted rival to commit or roll back.
   */
  async insert(op: Op, task: NewTask, awaited: string | null = null): Promise<Inserted | undefined> {
    const worker = awaited === null ? task.worker : null;
    const [row] = await this.database.query<{ createdAt: number }>(
      insertStatement,
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
        task.lockKeys,
        awaited,
        task.deadlineMs,
        task.createdBy,
        task.requestId,
        task.priority,
        task.parent?.id ?? null,
        task.parent?.step ?? null,
        worker?.owner ?? null,
        worker?.leaseMs ?? null,
      ],
      op,
    );
    return row && { begun: worker && begun(task, row.createdAt) };
  }

  /** Cancels the holder of a lock in favour of a waiter. */
  async preempt(op: Op, taskId: string, by: string, reason: string): Promise<void> {
    await this.database.query(
      `UPDATE task SET ${stopAsked}, has_waiter = true WHERE id = $1`,
      [taskId, by, reason],
      op,
    );
  }

  /**
   * Asks those of the tasks to stop whose rows nobody has locked at the moment. Without waiting: who holds the row of one
   * may wait for that of another.
   */
  async preemptFree(op: Op, taskIds: readonly string[], by: string, reason: string): Promise<void> {
    await op.query(
      `WITH free AS MATERIALIZED (SELECT id FROM task WHERE id = ANY($1::uuid[]) AND ended_at IS NULL AND state <> 'stuck' FOR UPDATE SKIP LOCKED)
       UPDATE task SET ${stopAsked} FROM free WHERE task.id = free.id`,
      [taskIds, by, reason],
    );
  }

  /**
   * False when the task is over or unknown, or has begun and is of a type that only goes forward.
   * @param goingForward `type@version` of those
   */
  async cancel(op: Op, taskId: string, by: string, reason: string, goingForward: readonly string[]): Promise<boolean> {
    const rows = await op.query<{ id: string }>(
      `UPDATE task SET ${stopAsked} WHERE id = $1 AND ${live} AND (state = 'queued' OR type || '@' || version <> ALL ($4::text[])) RETURNING id`,
      [taskId, by, reason, goingForward],
    );
    return rows.length > 0;
  }

  async wakeByLock(op: Op, lockKey: string): Promise<void> {
    await this.database.query(
      `UPDATE task SET ${woken} WHERE id = (SELECT task_id FROM task_lock WHERE key = $1) AND state <> 'stuck'`,
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
      `SELECT id, type, version, state, lock_keys AS "lockKeys", cursor FROM task WHERE id = $1 FOR UPDATE`,
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

  /** Ends a stuck task that was not undone. Its locks are the caller's to free. */
  async endStuck(
    op: Op,
    taskId: string,
    error: Pick<StepError, 'hint'>,
  ): Promise<{ parentId: string | null } | undefined> {
    const [row] = await op.query<{ parentId: string | null }>(
      `UPDATE task SET state = 'failed', undone = false, lock_state = NULL, awaited_lock = NULL, has_waiter = false, wake_at = NULL, ended_at = clock_timestamp(),
              error = COALESCE(error, '{}'::jsonb) || jsonb_build_object('hint', $2::text) WHERE id = $1 AND state = 'stuck' RETURNING parent_id AS "parentId"`,
      [taskId, error.hint],
    );
    return row;
  }

  /**
   * Wakes those that have waited longest for a slot under one of the limits: at most `count`, and no more than there are
   * free slots. True when one was.
   */
  async wakeWaiting(freed: readonly { scope: string; slots: number; count: number }[]): Promise<boolean> {
    const rows = await this.database.query(
      `WITH f AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1::jsonb) AS f(scope text, slots int, count int))
       UPDATE task SET wake_at = clock_timestamp(), wake_seq = wake_seq + 1, waiting_for = NULL WHERE id IN (
         SELECT w.id FROM f CROSS JOIN LATERAL (
           SELECT id FROM task WHERE waiting_for = f.scope AND lease_until IS NULL ORDER BY priority, created_at
            LIMIT GREATEST(0, LEAST(f.count, f.slots - (SELECT count(*)::int FROM task_slot WHERE scope = f.scope))) FOR UPDATE SKIP LOCKED) w)
       RETURNING id`,
      [JSON.stringify(freed)],
    );
    return rows.length > 0;
  }

  /** Of each of the tasks, in their order; undefined when there is none. */
  async states(taskIds: readonly string[]): Promise<(TaskState | undefined)[]> {
    // JSON, for of an array's length the server thinks each time and so plans each time.
    const rows = await this.database.query<{ id: string; state: TaskState }>(
      `SELECT t.id, t.state FROM jsonb_to_recordset($1::jsonb) AS w(id uuid) CROSS JOIN LATERAL (
         SELECT id, state FROM task WHERE id = w.id UNION ALL SELECT id, state FROM task_archive WHERE id = w.id) t`,
      [JSON.stringify(taskIds.map((id) => ({ id })))],
    );
    const known = new Map(rows.map(({ id, state }) => [id, state]));
    return taskIds.map((id) => known.get(id));
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
