import type { MigrationInterface, QueryRunner } from 'typeorm';

const columns =
  'task_id, seq, name, phase, state, attempt, host_id, accepted, progress, message, output, error, started_at, ended_at, call';

/** Steps that are stored with the end of their task: a list in its row costs a tenth of a row for each. */
export class WorkflowLastSteps1764300100008 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE task ADD COLUMN last_steps jsonb');
    await q.query(
      `COMMENT ON COLUMN task.last_steps IS 'Steps in the database that committed with the end of the task, and have no row in task_step: times as milliseconds before the end'`,
    );
    await q.query(`
      CREATE OR REPLACE VIEW task_step_history AS
        SELECT ${columns} FROM task_step
        UNION ALL
        SELECT t.id, (w->>'seq')::int, w->>'name', (w->>'phase')::task_step_phase, (w->>'state')::task_step_state, (w->>'attempt')::int, NULL, false, NULL, NULL, w->'output', NULL,
               t.ended_at - (w->>'startedMsAgo')::float8 * interval '1 millisecond', t.ended_at - (w->>'endedMsAgo')::float8 * interval '1 millisecond', 0
          FROM task t CROSS JOIN LATERAL jsonb_array_elements(t.last_steps) w
        UNION ALL
        SELECT a.id, s.seq, s.name, s.phase, s.state, s.attempt, s.host_id, s.accepted, s.progress, s.message, s.output, s.error, s.started_at, s.ended_at, s.call
          FROM task_archive a CROSS JOIN LATERAL jsonb_populate_recordset(NULL::task_step, a.steps) s`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
