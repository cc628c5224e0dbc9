import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The bytes of an import are moved by the steps of its task, and no more by a queue beside it. Imports that are under
 * way begin anew; those that are being undone have nothing left to undo but their end.
 */
export class ImageLocalImport1764300960000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const live = `task.type = 'image.import' AND task.version = 1 AND task.state IN ('queued', 'running', 'compensating', 'stuck')`;
    await runner.query(`DELETE FROM task_step USING task WHERE task.id = task_step.task_id AND ${live}`);
    await runner.query(`
      UPDATE task SET version = 2, step = 'fetch', progress = 0, deaths = 0, waiting_for = NULL,
             cursor = CASE WHEN state IN ('queued', 'running') THEN 0 ELSE -1 END,
             state = CASE WHEN state = 'running' THEN 'queued' ELSE state END,
             owner = NULL, lease_until = NULL, fence = fence + 1, wake_seq = wake_seq + 1,
             wake_at = CASE WHEN state = 'stuck' OR lock_state = 'waiting' THEN NULL ELSE clock_timestamp() END
       WHERE ${live}`);
    await runner.query(`ALTER TABLE image DROP COLUMN phase, DROP COLUMN failure_code, DROP COLUMN deaths`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
