import { injectable } from 'inversify';
import { Database } from '../../db/database';
import type { GatheredStatement, Op } from '../../db/rows/op';
import { inFairOrder, longestWaiting, takenSlot } from './claim-order';
import type { StepError } from '../definition/step-error';
import type { Awaits, ClaimedTask, Hold, Seen, StepRow, StepWrite } from './task-row';
import type { TaskState } from '../definition/task-state';
import { CancelSeen, LeaseLost, NoSlot, type Limit } from './interruptions';

const ms = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`;

const claimStatement = (due: string): string => `
  WITH RECURSIVE ${due}
  UPDATE task t
     SET waiting_for = NULL, owner = $1, fence = t.fence + 1,
         deaths = CASE WHEN t.lease_until IS NOT NULL AND t.owner <> $1 THEN t.deaths + 1 ELSE t.deaths END,
         lease_until = now() + $4::float8 * interval '1 millisecond', wake_at = now() + $4::float8 * interval '1 millisecond',
         state = CASE WHEN t.state = 'queued' THEN 'running' ELSE t.state END,
         started_at = COALESCE(t.started_at, now()),
         deadline = COALESCE(t.deadline, now() + t.deadline_ms * interval '1 millisecond')
    FROM due WHERE t.id = due.id
  RETURNING t.id, t.type, t.version, t.project_id AS "projectId", t.state, t.input, t.cursor, t.progress, t.fence, t.wake_seq AS "wakeSeq",
    json_build_object('kind', t.subject_kind, 'id', t.subject_id, 'name', t.subject_name) AS subject,
    ${ms('t.deadline')} AS deadline, t.deadline_ms::float8 AS "deadlineMs", ${ms('t.undo_deadline')} AS "undoDeadline",
    t.cancel_requested_at IS NOT NULL AS cancelled, t.cancel_reason AS "cancelReason", t.outcome, t.error, t.lock_keys AS "lockKeys", t.lock_state AS "lockState",
    t.deaths, t.created_by AS "createdBy", t.request_id AS "requestId", t.priority, t.parent_id AS "parentId", t.parent_step AS "parentStep", ${ms('t.created_at')} AS "createdAt", ${ms('t.started_at')} AS "startedAt",
    ${ms('clock_timestamp()')} AS now`;

const claimLongestWaiting = claimStatement(longestWaiting);
const claimInTurn = claimStatement(inFairOrder);

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

const statement = (set: string, returning = seen, when = '', more = ''): string =>
  `WITH t AS (UPDATE task SET ${set} WHERE ${held} ${when} RETURNING id, ${returning}), s AS (${stepUpsert})${more} SELECT * FROM t`;

/** Another step is at work from here on: deaths are counted per step. */
const goneOn = 'deaths = CASE WHEN cursor = $7::int THEN deaths ELSE 0 END';

/** $10: whether a task that was cancelled meanwhile is left as it is. */
const intentStatement = statement(
  `${goneOn}, cursor = $7::int, step = $8, progress = $9::int`,
  seen,
  'AND NOT ($10::boolean AND cancel_requested_at IS NOT NULL)',
);
/**
 * A statement per number of slots, which the configuration and the definitions have few of: with the number as a
 * parameter the server takes it for a thousand, finds its plan for any number too dear, and plans anew each time.
 */
const perSlots = (text: (slots: string) => string): ((slots: number) => string) => {
  const texts = new Map<number, string>();
  return (slots) => {
    let known = texts.get(slots);
    if (known === undefined) texts.set(slots, (known = text(String(Math.trunc(slots)))));
    return known;
  };
};

const advanceStatement = statement('deaths = 0, cursor = $7::int, step = $8, progress = $9::int');
const admitStatement = perSlots(
  (slots) =>
    `WITH h AS MATERIALIZED (SELECT id FROM task WHERE ${held} FOR UPDATE), ${takenSlot('$6', slots)} SELECT task_id FROM taken`,
);
const intentWithPlaceStatement = perSlots(
  (slots) => `
  WITH h AS MATERIALIZED (SELECT id FROM task WHERE ${held} AND NOT ($10::boolean AND cancel_requested_at IS NOT NULL) FOR UPDATE), ${takenSlot('$11', slots)},
       t AS (UPDATE task SET ${goneOn}, cursor = $7::int, step = $8, progress = $9::int FROM taken WHERE task.id = taken.task_id RETURNING id, ${seen}),
       s AS (${stepUpsert})
  SELECT * FROM t`,
);
/** As if it had not been claimed: its time has not begun. */
const postponeStatement = `
  UPDATE task SET state = 'queued', started_at = NULL, deadline = NULL, owner = NULL, lease_until = NULL, waiting_for = $6,
         wake_at = CASE WHEN cancel_requested_at IS NULL THEN clock_timestamp() + $7::float8 * interval '1 millisecond' ELSE clock_timestamp() END
   WHERE ${held} RETURNING id`;
const awaitLockStatement = `
  UPDATE task SET state = 'queued', started_at = NULL, deadline = NULL, owner = NULL, lease_until = NULL, awaited_lock = $6,
         wake_at = CASE WHEN cancel_requested_at IS NOT NULL THEN clock_timestamp() END
   WHERE ${held} RETURNING id`;
const lockedStatement = `UPDATE task SET lock_state = 'held' WHERE ${held} RETURNING id`;

const over = `owner = NULL, lease_until = NULL, wake_at = NULL, lock_state = NULL, awaited_lock = NULL, ended_at = clock_timestamp()`;
const ended = `state = $7, cursor = $8::int, progress = $9::int, undone = $10::boolean, error = COALESCE($11::jsonb, error), last_steps = $12::jsonb, ${over}`;
const endStatement = statement(ended);
/** $13: its lock keys. Only what is held when the statement begins is seen: enough for a task that had all of them. */
const endWithLocksStatement = statement(
  ended,
  seen,
  '',
  ', l AS (DELETE FROM task_lock USING t WHERE task_lock.key = ANY($13::text[]) AND task_lock.task_id = t.id)',
);
const napStatement = statement(
  `step = COALESCE($7, step), waiting_for = $10, children = CASE WHEN $11::int IS NULL THEN children ELSE (SELECT count(*)::int FROM task c WHERE c.parent_id = $1) END, children_left = COALESCE($11::int, children_left), progress = COALESCE($12::int, progress), owner = NULL, lease_until = NULL,
   wake_at = CASE WHEN wake_seq = $8::bigint THEN clock_timestamp() + $9::float8 * interval '1 millisecond' ELSE clock_timestamp() END`,
  'wake_at <= clock_timestamp() AS due',
);
const compensateStatement = statement(
  `state = 'compensating', deaths = 0, outcome = $7, error = $8::jsonb, cursor = $9::int, undo_deadline = clock_timestamp() + deadline_ms * interval '1 millisecond'`,
  `${seen}, ${ms('undo_deadline')} AS "undoDeadline"`,
);
const stuckStatement = statement(
  `state = 'stuck', error = $7::jsonb, owner = NULL, lease_until = NULL, wake_at = NULL`,
);

/** Tries for a slot while some are free: others may take the same ones. */
const slotRounds = 4;

const freePlaces: GatheredStatement<{ taskId: string; scopes: readonly string[] }> = {
  sql: `DELETE FROM task_slot USING jsonb_to_recordset($1::jsonb) AS f("taskId" uuid, scopes jsonb) WHERE task_id = f."taskId" AND f.scopes ? scope`,
  params: (items) => [JSON.stringify(items)],
};

const holdParams = (hold: Hold): unknown[] => [hold.taskId, hold.owner, hold.fence, hold.state, hold.cursor];
const json = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value));
/** A step of which nothing was stored before it was over: its first attempt, told after the fact. */
const isNewAndOver = ({ phase, state, attempt, startedMsAgo }: StepWrite): boolean =>
  phase === 'run' && state === 'succeeded' && attempt === 1 && startedMsAgo !== undefined;
const stepsParam = (steps: readonly StepWrite[]): string => JSON.stringify(steps);

/**
 * The worker's statements. Each is one round trip, fenced, and throws `LeaseLost` when the task is not the worker's any
 * more.
 */
@injectable()
export class TaskRunRepository {
  constructor(private readonly database: Database) {}

  /**
   * Takes up to `limit` due tasks of the given `type@version`s for `leaseMs`, with a higher fence. With `atWork` (tasks
   * at work here by project) by priority and in turn between projects, else by the time that they have waited.
   */
  async claim(
    owner: string,
    keys: string[],
    limit: number,
    leaseMs: number,
    atWork?: Record<string, number>,
  ): Promise<ClaimedTask[]> {
    if (!atWork) return this.database.query<ClaimedTask>(claimLongestWaiting, [owner, keys, limit, leaseMs]);
    return this.database.query<ClaimedTask>(claimInTurn, [owner, keys, limit, leaseMs, JSON.stringify(atWork)]);
  }

  /** Prolongs the leases that still hold; rows locked at the moment are left for the next time. Returns the ids. */
  async renew(owner: string, ids: string[], leaseMs: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `WITH mine AS MATERIALIZED (
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

  /** Those of the tasks that were asked to stop, with the reason. */
  async cancelled(ids: readonly string[]): Promise<{ id: string; reason: string | null }[]> {
    return this.database.query(
      'SELECT id, cancel_reason AS reason FROM task WHERE id = ANY($1::uuid[]) AND cancel_requested_at IS NOT NULL',
      [ids],
    );
  }

  /** Locks the task's row until the transaction ends. Throws `LeaseLost` when it is not the worker's any more. */
  async assertHeld(op: Op, hold: Hold): Promise<void> {
    const rows = await op.query(`SELECT 1 FROM task WHERE ${held} FOR UPDATE`, holdParams(hold));
    if (rows.length === 0) throw new LeaseLost(hold.taskId);
  }

  async steps(taskId: string): Promise<StepRow[]> {
    return this.database.query<StepRow>(
      `SELECT seq, name, phase, state, attempt, host_id AS "hostId", accepted, call, output IS NOT NULL AS "hasOutput", output, ${ms('started_at')} AS "startedAt"
         FROM task_step WHERE task_id = $1 ORDER BY seq`,
      [taskId],
    );
  }

  /**
   * Written before the effect, together with checkpoints not stored yet: from here on the step counts as started and
   * will be undone. With `unlessCancelled` nothing is written once the task was asked to stop: throws `CancelSeen`.
   * With `limit` it takes a slot under it first: throws `NoSlot` when there is none.
   */
  async intent(
    op: Op,
    hold: Hold,
    steps: readonly StepWrite[],
    at: { cursor: number; step: string; progress: number },
    unlessCancelled: boolean,
    limit?: Limit,
  ): Promise<Seen> {
    const params = [...holdParams(hold), stepsParam(steps), at.cursor, at.step, at.progress, unlessCancelled];
    for (let round = 0; round < slotRounds; round += 1) {
      const [row] = await op.query<Seen>(
        limit ? intentWithPlaceStatement(limit.slots) : intentStatement,
        limit ? [...params, limit.scope] : params,
      );
      if (row) return row;
      const [now] = await op.query<{ cancelled: boolean; cancelReason: string | null; used: number }>(
        `SELECT cancel_requested_at IS NOT NULL AS cancelled, cancel_reason AS "cancelReason", (SELECT count(*)::int FROM task_slot WHERE scope = $6) AS used FROM task WHERE ${held}`,
        [...holdParams(hold), limit?.scope ?? ''],
      );
      if (now?.cancelled && unlessCancelled) throw new CancelSeen(now.cancelReason);
      if (!now || !limit) throw new LeaseLost(hold.taskId);
      if (now.used >= limit.slots) throw new NoSlot(limit);
    }
    throw limit ? new NoSlot(limit) : new LeaseLost(hold.taskId);
  }

  /** Steps that were stored as begun, and are known not to be. With a fenced statement in the same transaction. */
  async notBegun(op: Op, taskId: string, seqs: readonly number[]): Promise<void> {
    if (seqs.length === 0) return;
    await op.query(`DELETE FROM task_step WHERE task_id = $1 AND seq = ANY($2::int[]) AND phase = 'run'`, [
      taskId,
      seqs,
    ]);
  }

  /** Takes a slot under a limit for the whole task. False when there is none. */
  async admit(hold: Hold, limit: Limit): Promise<boolean> {
    for (let round = 0; round < slotRounds; round += 1) {
      if ((await this.database.query(admitStatement(limit.slots), [...holdParams(hold), limit.scope])).length > 0)
        return true;
    }
    return false;
  }

  /**
   * Gives a task back that has done nothing yet, until there is a slot for it. False when it was not the worker's any
   * more.
   */
  async postpone(hold: Hold, scope: string, afterMs: number): Promise<boolean> {
    return (await this.database.query(postponeStatement, [...holdParams(hold), scope, afterMs])).length > 0;
  }

  /** Gives a task back that has done nothing yet, until the lock is handed over to it. */
  async awaitLock(op: Op, hold: Hold, key: string): Promise<void> {
    const rows = await op.query(awaitLockStatement, [...holdParams(hold), key]);
    if (rows.length === 0) throw new LeaseLost(hold.taskId);
  }

  /** It has all of its locks. */
  async locked(op: Op, hold: Hold): Promise<void> {
    const rows = await op.query(lockedStatement, holdParams(hold));
    if (rows.length === 0) throw new LeaseLost(hold.taskId);
  }

  /** The scopes of the slots that a task holds. */
  async slots(taskId: string): Promise<string[]> {
    return (
      await this.database.query<{ scope: string }>('SELECT scope FROM task_slot WHERE task_id = $1', [taskId])
    ).map((row) => row.scope);
  }

  /** Frees slots with the transaction's commit. */
  free(op: Op, taskId: string, scopes: readonly string[]): Promise<void> {
    return op.gather(freePlaces, { taskId, scopes });
  }

  /** The checkpoint: the steps are over, the cursor moves on. */
  advance(
    op: Op,
    hold: Hold,
    steps: readonly StepWrite[],
    next: { cursor: number; step: string | null; progress: number },
  ): Promise<Seen> {
    return this.run(op, advanceStatement, hold, steps, [next.cursor, next.step, next.progress]);
  }

  /**
   * A final state, with the steps that are over with it. Those that have no row yet get none: they are kept in the
   * task's. Its locks are free; the caller hands them over in the same transaction when `hasWaiter`.
   */
  end(
    op: Op,
    hold: Hold,
    steps: readonly StepWrite[],
    final: {
      state: TaskState;
      cursor: number;
      progress: number;
      undone: boolean;
      lockKeys: readonly string[] | null;
      error?: StepError;
    },
  ): Promise<Seen> {
    const { state, cursor, progress, undone, error, lockKeys } = final;
    const last = steps.filter(isNewAndOver);
    const rows = steps.filter((step) => !isNewAndOver(step));
    const more = [state, cursor, progress, undone, json(error), last.length > 0 ? stepsParam(last) : null];
    return lockKeys === null
      ? this.run(op, endStatement, hold, rows, more)
      : this.run(op, endWithLocksStatement, hold, rows, [...more, lockKeys]);
  }

  /**
   * Gives the task back until `afterMs` have passed or a wake-up comes; true when one came since `wakeSeq` was read, so
   * that it is due at once.
   */
  async nap(
    op: Op,
    hold: Hold,
    steps: readonly StepWrite[],
    wakeSeq: string,
    afterMs: number,
    awaits: Awaits = {},
  ): Promise<boolean> {
    const more = [
      steps[0]?.name ?? null,
      wakeSeq,
      afterMs,
      awaits.scope ?? null,
      awaits.childrenLeft ?? null,
      awaits.progress ?? null,
    ];
    return (await this.run<{ due: boolean }>(op, napStatement, hold, steps, more)).due;
  }

  /** Turns round: `cursor` is the first step to undo, -1 when none is. */
  compensate(
    op: Op,
    hold: Hold,
    steps: readonly StepWrite[],
    to: { outcome: 'failed' | 'cancelled'; error: StepError; cursor: number },
  ): Promise<Seen & { undoDeadline: number }> {
    return this.run(op, compensateStatement, hold, steps, [to.outcome, json(to.error), to.cursor]);
  }

  /** Keeps its lock until an operator decides, or a task that removes the same object takes over. */
  stuck(op: Op, hold: Hold, steps: readonly StepWrite[], error: StepError): Promise<Seen> {
    return this.run(op, stuckStatement, hold, steps, [json(error)]);
  }

  private async run<R extends object = Seen>(
    op: Op,
    what: string,
    hold: Hold,
    steps: readonly StepWrite[],
    more: unknown[],
  ): Promise<R> {
    const rows = await this.database.query<R>(what, [...holdParams(hold), stepsParam(steps), ...more], op);
    const row = rows[0];
    if (!row) throw new LeaseLost(hold.taskId);
    return row;
  }
}
