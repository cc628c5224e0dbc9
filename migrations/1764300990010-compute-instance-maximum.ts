import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeInstanceMaximum1764300990010 implements MigrationInterface {
  name = 'ComputeInstanceMaximum1764300990010';

  /** The most that an instance may get while it runs; null: what its flavor has. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE instance ADD COLUMN max_vcpus integer, ADD COLUMN max_memory_bytes bigint');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
