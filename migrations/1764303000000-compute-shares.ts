import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeShares1764303000000 implements MigrationInterface {
  name = 'ComputeShares1764303000000';

  /** Directories of its host that an instance asked for at its create, by their names. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE instance ADD COLUMN shares jsonb NOT NULL DEFAULT '[]'`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
