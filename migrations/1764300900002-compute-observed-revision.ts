import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A host's heartbeat may arrive after the answer of a verb that it left before: the higher revision is newer. */
export class ComputeObservedRevision1764300900002 implements MigrationInterface {
  name = 'ComputeObservedRevision1764300900002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE instance ADD COLUMN observed_revision bigint NOT NULL DEFAULT 0');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
