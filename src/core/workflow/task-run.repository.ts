import type { Database } from '../db/database';
import type { Op } from '../db/op';
import { CancelSeen } from './cancel-seen';
import { LeaseLost } from './lease-lost';
import type { StepError } from './step-failure';
import type { ClaimedTask, Hold, Seen, StepRow, StepWrite } from './task-row';
import type { TaskState } from './workflows';

const ms = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`;

const claimSql = `
  WITH due AS MATERIALIZED (
    SELECT id FROM task
     WHERE wake_at <= now() AND (lease_until IS NULL OR lease_until <= now()) AND type || '@' || version = ANY($2::text[])
     ORDER BY wake_at LIMIT $3 FOR UPDATE SKIP LOCKED)
  UPDATE task t
     SET owner = $1, fence = t.fence + 1,
         lease_until = now() + $4::float8 * interval '1 millisecond', wake_at = now() + $4::float8 * interval '1 millisecond',
         state = CASE WHEN t.state = 'queued' THEN 'running' ELSE t.state END,
         started_at = COALESCE(t.started_at, now()),
         deadline = COALESCE(t.deadline, now() + t.deadline_ms * interval '1 millisecond')
    FROM due WHERE t.id = due.id
  RETURNING t.id, t.type, t.version, t.project_id AS "projectId", t.state, t.input, t.cursor, t.progress, t.fence, t.wake_seq AS "wakeSeq",
    json_build_object('kind', t.subject_kind, 'id', t.subject_id, 'name', t.subject_name) AS subject,
    ${ms('t.deadline')} AS deadline, t.deadline_ms::float8 AS "deadlineMs", ${ms('t.undo_deadline')} AS "undoDeadline",
    t.cancel_requested_at IS NOT NULL AS cancelled, t.cancel_reason AS "cancelReason", t.outcome, t.error, t.lock_key AS "lockKey",
    t.created_by AS "createdBy", t.request_id AS "requestId", ${ms('t.created_at')} AS "createdAt", ${ms('t.started_at')} AS "startedAt",
    ${ms('clock_timestamp()')} AS now`;

/** Every write of a worker begins with this: the row must be held as the worker believes, by the database's clock. */
const held = `id = $1 AND owner = $2 AND fence = $3 AND state = $4 AND cursor = $5 AND lease_until > clock_timestamp()`;
const seen = `wake_seq AS "wakeSeq", cancel_requested_at IS NOT NULL AS cancelled, cancel_reason AS "cancelReason", has_waiter AS "hasWaiter"`;

/** $6: the rows of steps to write, none or several. Times come as ages, so that only the database's clock counts. */
const stepUpsert = `
  INSERT INTO task_step (task_id, seq, name, phase, state, attempt, host_id, accepted, call, output, error, started_at, ended_at)
  SELECT t.id, (w->>'seq')::int, w->>'name', w->>'phase', w->>'state', (w->>'attempt')::int, (w->>'hostId')::uuid, COALESCE((w->>'accepted')::boolean, false),
         COALESCE((w->>'call')::int, 0), w->'output', NULLIF(w->'error', 'null'::jsonb),
         clock_timestamp() - COALESCE((w->>'startedMsAgo')::float8, 0) * interval '1 millisecond',
         CASE WHEN w->>'state' <> 'running' THEN clock_timestamp() - COALESCE((w->>'endedMsAgo')::float8, 0) * interval '1 millisecond' END
    FROM t, jsonb_array_elements($6::jsonb) w
  ON CONFLICT (task_id, seq, phase) DO UPDATE
     SET state = excluded.state, attempt = excluded.attempt, host_id = COALESCE(excluded.host_id, task_step.host_id), accepted = excluded.accepted, call = excluded.call,
         output = excluded.output, error = excluded.error, ended_at = excluded.ended_at,
         progress = CASE WHEN excluded.state = 'running' THEN task_step.progress END`;

const statement = (set: string, returning = seen, when = ''): string => `WITH t AS (UPDATE task SET ${set} WHERE ${held} ${when} RETURNING id, ${returning}), s AS (${stepUpsert}) SELECT * FROM t`;

/** $10: whether a task that was cancelled meanwhile is left as it is. */
const intentStatement = statement('cursor = $7::int, step = $8, progress = $9::int', seen, 'AND NOT ($10::boolean AND cancel_requested_at IS NOT NULL)');
const advanceStatement = statement('cursor = $7::int, step = $8, progress = $9::int');
const over = `owner = NULL, lease_until = NULL, wake_at = NULL, lock_state = NULL, ended_at = clock_timestamp()`;
const endStatement = statement(`state = $7, cursor = $8::int, progress = $9::int, undone = $10::boolean, error = COALESCE($11::jsonb, error), ${over}`);
const napStatement = statement(`step = COALESCE($7, step), owner = NULL, lease_until = NULL,
   wake_at = CASE WHEN wake_seq = $8::bigint THEN clock_timestamp() + $9::float8 * interval '1 millisecond' ELSE clock_timestamp() END`,
  'wake_at <= clock_timestamp() AS due',
);
const compensateStatement = statement(`state = 'compensating', outcome = $7, error = $8::jsonb, cursor = $9::int, undo_deadline = clock_timestamp() + deadline_ms * interval '1 millisecond'`,
  `${seen}, ${ms('undo_deadline')} AS "undoDeadline"`,
);
const stuckStatement = statement(`state = 'stuck', error = $7::jsonb, owner = NULL, lease_until = NULL, wake_at = NULL`);

const holdParams = (hold: Hold): unknown[] => [hold.taskId, hold.owner, hold.fence, hold.state, hold.cursor];
const json = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value));
const stepsParam = (steps: readonly StepWrite[]): string => JSON.stringify(steps);

/** The worker's statements. Each is one round trip, fenced, and throws `LeaseLost` when the task is not the worker's any more. */
export class TaskRunRepository {
  constructor(private readonly database: Database) {}

  /** Takes up to `limit` due tasks of the given `type@version`s for `leaseMs`, with a higher fence. */
  async claim(owner: string, keys: string[], limit: number, leaseMs: number): Promise<ClaimedTask[]> {
    return this.database.query<ClaimedTask>(claimSql, [owner, keys, limit, leaseMs]);
  }

  /** Prolongs the leases that still hold; rows locked at the moment are left for the next time. Returns the ids. */
  async renew(owner: string, ids: string[], leaseMs: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(`WITH mine AS MATERIALIZED (
         SELECT id FROM task WHERE id = ANY($2::uuid[]) AND owner = $1 AND lease_until > clock_timestamp() FOR UPDATE SKIP LOCKED)
       UPDATE task t SET lease_until = clock_timestamp() + $3::float8 * interval '1 millisecond', wake_at = clock_timestamp() + $3::float8 * interval '1 millisecond'
         FROM mine WHERE t.id = mine.id RETURNING t.id`,
      [owner, ids, leaseMs],
    );
    return rows.map((row) => row.id);
  }

  /** Gives a task back at once, if it is still this worker's; another may claim it after `afterMs`. */
  async release(hold: Pick<Hold, 'taskId' | 'owner' | 'fence'>, afterMs: number): Promise<void> {
    await this.database.query(
      `UPDATE task SET owner = NULL, lease_until = NULL, wake_at = clock_timestamp() + $4::float8 * interval '1 millisecond'
        WHERE id = $1 AND owner = $2 AND fence = $3 AND lease_until IS NOT NULL`,
      [hold.taskId, hold.owner, hold.fence, afterMs],
    );
  }

  async steps(taskId: string): Promise<StepRow[]> {
    return this.database.query<StepRow>(`SELECT seq, name, phase, state, attempt, host_id AS "hostId", accepted, call, output IS NOT NULL AS "hasOutput", output, ${ms('started_at')} AS "startedAt"
         FROM task_step WHERE task_id = $1 ORDER BY seq`,
      [taskId],
    );
  }

  /**
   * Written before the effect, together with checkpoints not stored yet: from here on the step counts as started and will be undone.
   * With `unlessCancelled` nothing is written once the task was asked to stop: throws `CancelSeen`.
   */
  async intent(op: Op, hold: Hold, steps: readonly StepWrite[], at: { cursor: number; step: string; progress: number }, unlessCancelled: boolean): Promise<Seen> {
    const [row] = await op.query<Seen>(intentStatement, [...holdParams(hold), stepsParam(steps), at.cursor, at.step, at.progress, unlessCancelled]);
    if (row) return row;
    const [asked] = await op.query<Pick<Seen, 'cancelReason'>>(`SELECT cancel_reason AS "cancelReason" FROM task WHERE ${held} AND cancel_requested_at IS NOT NULL`, holdParams(hold));
    throw asked ? new CancelSeen(asked.cancelReason) : new LeaseLost(hold.taskId);
  }

  /** The checkpoint: the steps are over, the cursor moves on. */
  advance(op: Op, hold: Hold, steps: readonly StepWrite[], next: { cursor: number; step: string | null; progress: number }): Promise<Seen> {
    return this.run(op, advanceStatement, hold, steps, [next.cursor, next.step, next.progress]);
  }

  /** A final state; the caller hands the lock over in the same transaction when `hasWaiter`. */
  end(op: Op, hold: Hold, steps: readonly StepWrite[], final: { state: TaskState; cursor: number; progress: number; undone: boolean; error?: StepError }): Promise<Seen> {
    return this.run(op, endStatement, hold, steps, [final.state, final.cursor, final.progress, final.undone, json(final.error)]);
  }

  /** Gives the task back until `afterMs` have passed or a wake-up comes; true when one came since `wakeSeq` was read, so that it is due at once. */
  async nap(op: Op, hold: Hold, steps: readonly StepWrite[], wakeSeq: string, afterMs: number): Promise<boolean> {
    return (await this.run<{ due: boolean }>(op, napStatement, hold, steps, [steps[0]?.name ?? null, wakeSeq, afterMs])).due;
  }

  /** Turns round: `cursor` is the first step to undo, -1 when none is. */
  compensate(op: Op, hold: Hold, steps: readonly StepWrite[], to: { outcome: 'failed' | 'cancelled'; error: StepError; cursor: number }): Promise<Seen & { undoDeadline: number }> {
    return this.run(op, compensateStatement, hold, steps, [to.outcome, json(to.error), to.cursor]);
  }

  /** Keeps its lock until an operator decides, or a task that removes the same object takes over. */
  stuck(op: Op, hold: Hold, steps: readonly StepWrite[], error: StepError): Promise<Seen> {
    return this.run(op, stuckStatement, hold, steps, [json(error)]);
  }

  private async run<R extends object = Seen>(op: Op, what: string, hold: Hold, steps: readonly StepWrite[], more: unknown[]): Promise<R> {
    const rows = await this.database.query<R>(what, [...holdParams(hold), stepsParam(steps), ...more], op);
    const row = rows[0];
    if (!row) throw new LeaseLost(hold.taskId);
    return row;
  }
}
