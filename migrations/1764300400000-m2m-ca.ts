import type { MigrationInterface, QueryRunner } from 'typeorm';

export class M2mCa1764300400000 implements MigrationInterface {
  name = 'M2mCa1764300400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE ca (
        id smallint PRIMARY KEY CHECK (id = 1),
        certificate text NOT NULL,
        sealed_key text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(`
      CREATE TABLE certificate (
        serial text PRIMARY KEY,
        host_id uuid,
        issued_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz,
        reason text
      )`);
    await runner.query('CREATE INDEX certificate_host ON certificate (host_id)');
    await runner.query('CREATE INDEX certificate_revoked ON certificate (expires_at) WHERE revoked_at IS NOT NULL');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
