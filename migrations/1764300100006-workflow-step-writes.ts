import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Steps are only written by the statement that has just written the row of their task, and leave with it: the server
 * need not look for that row again at each of them.
 */
export class WorkflowStepWrites1764300100006 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`ALTER TABLE task_step DROP CONSTRAINT task_step_task_id_fkey`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
