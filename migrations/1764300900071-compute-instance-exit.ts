import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeInstanceExit1764300900071 implements MigrationInterface {
  name = 'ComputeInstanceExit1764300900071';

  /** How an instance's last machine ended: reason, code, signal, and when its host noticed. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE instance ADD COLUMN last_exit jsonb');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
