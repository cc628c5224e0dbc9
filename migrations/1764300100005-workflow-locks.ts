import type { MigrationInterface, QueryRunner } from 'typeorm';

const columns = `id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, cursor, progress, step, priority, wake_at, waiting_for,
  deadline, cancel_requested_at, cancel_by, cancel_reason, error, undone, parent_id, parent_step, children, children_left, created_by, request_id, created_at, started_at, ended_at`;

/** A task may need several locks: each that is held is a row of its own, and a task waits for one at a time. */
export class WorkflowLocks1764300100005 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`CREATE TABLE task_lock (key text PRIMARY KEY, task_id uuid NOT NULL)`);
    await q.query(
      `COMMENT ON TABLE task_lock IS 'Lock keys that are held, and by which task. Taken with its start or handed over by the holder before, gone with its end'`,
    );
    await q.query(
      `INSERT INTO task_lock (key, task_id) SELECT lock_key, id FROM task WHERE lock_state = 'held' AND lock_key IS NOT NULL`,
    );
    await q.query(`ALTER TABLE task ADD COLUMN lock_keys text[], ADD COLUMN awaited_lock text`);
    await q.query(
      `UPDATE task SET lock_keys = ARRAY[lock_key], awaited_lock = CASE WHEN lock_state = 'waiting' THEN lock_key END WHERE lock_key IS NOT NULL AND ended_at IS NULL`,
    );
    await q.query(
      `COMMENT ON COLUMN task.lock_keys IS 'The locks that it needs, in the order in which all tasks take them'`,
    );
    await q.query(`COMMENT ON COLUMN task.lock_state IS 'held: all of its locks; waiting: not all of them yet'`);
    await q.query(
      `COMMENT ON COLUMN task.awaited_lock IS 'The one lock in whose queue it is; it holds those before it'`,
    );
    await q.query(`DROP VIEW task_history`);
    await q.query(`ALTER TABLE task DROP COLUMN lock_key`);
    await q.query(`ALTER TABLE task_archive DROP COLUMN lock_key, DROP COLUMN lock_state`);
    await q.query(
      `CREATE INDEX task_awaited_lock ON task (awaited_lock, priority, created_at, id) WHERE awaited_lock IS NOT NULL`,
    );
    await q.query(
      `CREATE VIEW task_history AS SELECT ${columns} FROM task UNION ALL SELECT ${columns} FROM task_archive`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
