import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who interfered with a task, and why. Written in the transaction that does it. */
export class TaskAudit1764300150001 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE task_audit (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        task_id uuid NOT NULL,
        at timestamptz NOT NULL DEFAULT clock_timestamp(),
        verb text NOT NULL CHECK (verb IN ('cancel', 'retry', 'skip-step', 'abandon')),
        step text,
        reason text,
        by_id text NOT NULL,
        by_name text NOT NULL,
        request_id text NOT NULL
      )`);
    await q.query(`CREATE INDEX task_audit_task ON task_audit (task_id, id)`);
    await q.query(`COMMENT ON COLUMN task_audit.by_name IS 'As it was then: the user may be gone by now'`);
    await q.query(
      `COMMENT ON COLUMN task_audit.task_id IS 'Of the engine''s table or its archive; goes when neither has it any more'`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
