import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeRestartPolicy1764300900072 implements MigrationInterface {
  name = 'ComputeRestartPolicy1764300900072';

  /** What a host does of itself when an instance fails, and what its guest did without its machine having ended. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      "ALTER TABLE instance ADD COLUMN restart_policy text NOT NULL DEFAULT 'never', ADD COLUMN guest jsonb",
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
