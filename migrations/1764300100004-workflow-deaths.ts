import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Work that takes its process with it is not taken up for ever. */
export class WorkflowDeaths1764300100004 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`ALTER TABLE task ADD COLUMN deaths int NOT NULL DEFAULT 0`);
    await q.query(
      `COMMENT ON COLUMN task.deaths IS 'Processes that died, or were cut off for longer than their lease, while they had the task at its present step'`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
