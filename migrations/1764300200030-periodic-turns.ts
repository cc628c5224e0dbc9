import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whose turn it is at a cluster's periodic work, instead of a job queue; the queue's tables go. */
export class PeriodicTurns1764300200030 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE periodic_turn (
        name        text PRIMARY KEY,
        fence       bigint NOT NULL DEFAULT 0,
        lease_until timestamptz NOT NULL DEFAULT clock_timestamp(),
        next_at     timestamptz NOT NULL DEFAULT clock_timestamp()
      ) WITH (fillfactor = 50)`);
    await runner.query('DROP SCHEMA IF EXISTS bullmq CASCADE');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
