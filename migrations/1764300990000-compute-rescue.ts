import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeRescue1764300990000 implements MigrationInterface {
  name = 'ComputeRescue1764300990000';

  /** What an instance boots from instead of its own disk, and the disk for that which a deleted one may have left. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE instance ADD COLUMN rescue jsonb');
    await runner.query('ALTER TABLE instance_tombstone ADD COLUMN rescue_volume_id uuid');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
