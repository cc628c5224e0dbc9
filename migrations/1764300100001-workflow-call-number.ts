import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A host keeps a final failure under its key; an undo that goes on after one needs another key. */
export class WorkflowCallNumber1764300100001 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`ALTER TABLE task_step ADD COLUMN call int NOT NULL DEFAULT 0`);
    await q.query(
      `COMMENT ON COLUMN task_step.call IS 'Part of the key of the call to the host: raised when an undo goes on after a final failure'`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
