import type { MigrationInterface, QueryRunner } from 'typeorm';

export class HttpIdempotency1764300200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE idempotency_key (
        principal_id uuid NOT NULL,
        key text NOT NULL,
        method text NOT NULL,
        path text NOT NULL,
        request_hash bytea NOT NULL,
        status integer,
        headers jsonb,
        body text,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (principal_id, key)
      )`);
    await runner.query('CREATE INDEX idempotency_key_created ON idempotency_key (created_at)');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
