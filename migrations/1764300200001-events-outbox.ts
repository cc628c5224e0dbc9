import type { MigrationInterface, QueryRunner } from 'typeorm';

export class EventsOutbox1764300200001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE outbox (
        seq bigserial PRIMARY KEY,
        type text NOT NULL,
        project_id uuid,
        subject jsonb NOT NULL,
        data jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query('CREATE INDEX outbox_created ON outbox (created_at)');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
