import type { MigrationInterface, QueryRunner } from 'typeorm';

const columns = `id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, cursor, progress, step, priority, wake_at, waiting_for,
  deadline, cancel_requested_at, cancel_by, cancel_reason, error, undone, parent_id, parent_step, children, children_left, created_by, request_id, created_at, started_at, ended_at`;

/**
 * Which words the engine's columns know is said by domains. A table's constraints are read and planned anew by each
 * statement that writes a row: they cost a fifth of an insert and a quarter of a task's end; a domain's once per
 * connection.
 */
export class WorkflowWordDomains1764300100007 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `CREATE DOMAIN task_state AS text CHECK (VALUE IN ('queued', 'running', 'compensating', 'succeeded', 'failed', 'cancelled', 'stuck'))`,
    );
    await q.query(`CREATE DOMAIN task_lock_state AS text CHECK (VALUE IN ('held', 'waiting'))`);
    await q.query(`CREATE DOMAIN task_outcome AS text CHECK (VALUE IN ('failed', 'cancelled'))`);
    await q.query(`CREATE DOMAIN task_priority AS smallint CHECK (VALUE BETWEEN 0 AND 2)`);
    await q.query(`CREATE DOMAIN task_step_phase AS text CHECK (VALUE IN ('run', 'undo'))`);
    await q.query(
      `CREATE DOMAIN task_step_state AS text CHECK (VALUE IN ('running', 'succeeded', 'failed', 'skipped'))`,
    );
    await q.query('DROP VIEW task_history, task_step_history');
    await q.query(`
      ALTER TABLE task
        DROP CONSTRAINT task_state_check, DROP CONSTRAINT task_lock_state_check, DROP CONSTRAINT task_outcome_check, DROP CONSTRAINT task_priority_check,
        ALTER COLUMN state TYPE task_state, ALTER COLUMN lock_state TYPE task_lock_state, ALTER COLUMN outcome TYPE task_outcome,
        ALTER COLUMN priority TYPE task_priority`);
    await q.query(`
      ALTER TABLE task_step
        DROP CONSTRAINT task_step_phase_check, DROP CONSTRAINT task_step_state_check,
        ALTER COLUMN phase TYPE task_step_phase, ALTER COLUMN state TYPE task_step_state`);
    await q.query(
      `CREATE VIEW task_history AS SELECT ${columns} FROM task UNION ALL SELECT ${columns} FROM task_archive`,
    );
    await q.query(`
      CREATE VIEW task_step_history AS
        SELECT task_id, seq, name, phase, state, attempt, host_id, accepted, progress, message, output, error, started_at, ended_at, call FROM task_step
        UNION ALL
        SELECT a.id, s.seq, s.name, s.phase, s.state, s.attempt, s.host_id, s.accepted, s.progress, s.message, s.output, s.error, s.started_at, s.ended_at, s.call
          FROM task_archive a CROSS JOIN LATERAL jsonb_populate_recordset(NULL::task_step, a.steps) s`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
