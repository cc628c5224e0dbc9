import type { MigrationInterface, QueryRunner } from 'typeorm';

const columns = `id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, cursor, progress, step, priority, lock_key, lock_state, wake_at, waiting_for,
  deadline, cancel_requested_at, cancel_by, cancel_reason, error, undone, parent_id, parent_step, children, children_left, created_by, request_id, created_at, started_at, ended_at`;

/** Tasks that are over leave the engine's table after a while; who looks at tasks sees both through one view. */
export class WorkflowArchive1764300100003 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`CREATE TABLE task_archive AS SELECT ${columns}, NULL::jsonb AS steps FROM task WITH NO DATA`);
    await q.query(
      `ALTER TABLE task_archive ADD PRIMARY KEY (id), ALTER COLUMN created_at SET NOT NULL, ALTER COLUMN ended_at SET NOT NULL, ALTER COLUMN steps SET NOT NULL`,
    );
    await q.query(`CREATE INDEX task_archive_newest ON task_archive (created_at DESC, id DESC)`);
    await q.query(`CREATE INDEX task_archive_project ON task_archive (project_id, created_at DESC, id DESC)`);
    await q.query(`CREATE INDEX task_archive_subject ON task_archive (subject_id, created_at DESC, id DESC)`);
    await q.query(`CREATE INDEX task_archive_type ON task_archive (type, created_at DESC, id DESC)`);
    await q.query(
      `CREATE INDEX task_archive_children ON task_archive (parent_id, parent_step, created_at, id) WHERE parent_id IS NOT NULL`,
    );
    await q.query(`CREATE INDEX task_archive_ended ON task_archive (ended_at)`);
    await q.query(`CREATE INDEX task_ended ON task (ended_at) WHERE ended_at IS NOT NULL`);
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
