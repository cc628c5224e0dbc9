import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a host has reported last of what lies on it and belongs to nothing. */
export class HostLeftovers1764300990000 implements MigrationInterface {
  name = 'HostLeftovers1764300990000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE host_leftovers (
        host_id uuid PRIMARY KEY REFERENCES host (id) ON DELETE CASCADE,
        scanned_at timestamptz NOT NULL,
        unclaimed jsonb NOT NULL
      )`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
