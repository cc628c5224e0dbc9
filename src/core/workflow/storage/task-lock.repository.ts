import { injectable } from 'inversify';
import { Database } from '../../db/database';
import type { Op } from '../../db/rows/op';
import type { TaskState } from '../definition/task-state';

/** A task that holds a lock; it may wait for another of its locks itself. */
export interface LockHolder {
  id: string;
  type: string;
  version: number;
  state: TaskState;
  lockKeys: readonly string[];
}

const holderColumns = `t.id, t.type, t.version, t.state, t.lock_keys AS "lockKeys"`;

/**
 * Statements about locks. One that is held is a row of `task_lock`; who waits is in the queue of one lock
 * (`task.awaited_lock`), which the end of its holder hands over. Both happen under the lock of the holder's row in
 * `task`, so that none is missed.
 */
@injectable()
export class TaskLockRepository {
  constructor(private readonly database: Database) {}

  /** False when it is held, by the task itself too. Waits for an uncommitted rival to commit or roll back. */
  async take(op: Op, key: string, taskId: string): Promise<boolean> {
    const rows = await op.query(
      'INSERT INTO task_lock (key, task_id) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING key',
      [key, taskId],
    );
    return rows.length > 0;
  }

  /** Those of the keys that the task holds. */
  async heldBy(op: Op, taskId: string, keys: readonly string[]): Promise<string[]> {
    const rows = await op.query<{ key: string }>(
      'SELECT key FROM task_lock WHERE key = ANY($1::text[]) AND task_id = $2',
      [keys, taskId],
    );
    return rows.map((row) => row.key);
  }

  /** Frees those of the keys that the task holds. */
  async release(op: Op, taskId: string, keys: readonly string[]): Promise<void> {
    await op.query('DELETE FROM task_lock WHERE key = ANY($1::text[]) AND task_id = $2', [keys, taskId]);
  }

  /** The task that holds the key, its row locked until the transaction ends: it cannot end meanwhile. */
  async holder(op: Op, key: string): Promise<LockHolder | undefined> {
    const rows = await op.query<LockHolder>(
      `SELECT ${holderColumns} FROM task_lock l JOIN task t ON t.id = l.task_id WHERE l.key = $1 AND t.ended_at IS NULL FOR UPDATE OF t`,
      [key],
    );
    return rows[0];
  }

  /** Who holds any of the keys, as it looks at the moment. */
  async holders(op: Op, keys: readonly string[]): Promise<(LockHolder & { key: string })[]> {
    return op.query<LockHolder & { key: string }>(
      `SELECT ${holderColumns}, l.key FROM task_lock l JOIN task t ON t.id = l.task_id WHERE l.key = ANY($1::text[]) AND t.ended_at IS NULL ORDER BY l.key`,
      [keys],
    );
  }

  /** Marks the holder, so that it hands the lock over when it ends. Returns how many wait already. */
  async joinQueue(op: Op, holderId: string, key: string): Promise<number> {
    await op.query('UPDATE task SET has_waiter = true WHERE id = $1', [holderId]);
    const [row] = await op.query<{ n: number }>(`SELECT count(*)::int AS n FROM task WHERE awaited_lock = $1`, [key]);
    return row?.n ?? 0;
  }

  /** Of those in the queue for the key, the first of the type that needs just these locks and goes on. */
  async waiterOf(op: Op, key: string, type: string, keys: readonly string[]): Promise<string | undefined> {
    const rows = await op.query<{ id: string }>(
      `SELECT id FROM task WHERE awaited_lock = $1 AND type = $2 AND lock_keys = $3::text[] AND cancel_requested_at IS NULL ORDER BY created_at, id LIMIT 1`,
      [key, type, keys],
    );
    return rows[0]?.id;
  }

  /** The types of those that are in the queues for the keys and go on. */
  async waiting(op: Op, keys: readonly string[]): Promise<{ type: string; version: number }[]> {
    return op.query<{ type: string; version: number }>(
      'SELECT DISTINCT type, version FROM task WHERE awaited_lock = ANY($1::text[]) AND cancel_requested_at IS NULL',
      [keys],
    );
  }

  /**
   * Gives a free key to the first task in its queue, which begins when that was the last that it lacked, and otherwise
   * looks for the next. Call in the transaction that freed it.
   */
  async handOver(op: Op, key: string): Promise<void> {
    await op.query(
      `WITH next AS MATERIALIZED (SELECT id FROM task WHERE awaited_lock = $1 ORDER BY priority, created_at, id LIMIT 1 FOR UPDATE),
            taken AS (INSERT INTO task_lock (key, task_id) SELECT $1, id FROM next RETURNING task_id)
       UPDATE task t SET awaited_lock = NULL, lock_state = CASE WHEN t.lock_keys[cardinality(t.lock_keys)] = $1 THEN 'held' ELSE 'waiting' END, wake_seq = wake_seq + 1,
              wake_at = CASE WHEN t.lease_until IS NULL THEN clock_timestamp() ELSE t.wake_at END,
              has_waiter = t.has_waiter OR EXISTS (SELECT 1 FROM task o WHERE o.awaited_lock = $1 AND o.id <> t.id)
         FROM taken WHERE t.id = taken.task_id`,
      [key],
    );
  }

  /**
   * Frees locks whose task is over or gone, and hands them over: nothing does so when an operator took such a task out
   * of the database by hand.
   */
  async freeLost(): Promise<number> {
    return this.database.tx(async (op) => {
      const lost = await op.query<{ key: string }>(
        'DELETE FROM task_lock WHERE NOT EXISTS (SELECT 1 FROM task WHERE task.id = task_lock.task_id AND task.ended_at IS NULL) RETURNING key',
      );
      for (const { key } of lost) await this.handOver(op, key);
      return lost.length;
    });
  }
}
