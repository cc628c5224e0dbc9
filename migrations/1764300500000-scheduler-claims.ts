import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SchedulerClaims1764300500000 implements MigrationInterface {
  name = 'SchedulerClaims1764300500000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE host_claim (
        instance_id uuid PRIMARY KEY,
        host_id uuid NOT NULL,
        vcpus integer NOT NULL CHECK (vcpus > 0),
        memory_bytes bigint NOT NULL CHECK (memory_bytes > 0),
        disk_bytes bigint NOT NULL CHECK (disk_bytes >= 0),
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query('CREATE INDEX host_claim_host ON host_claim (host_id)');
    await runner.query(`
      CREATE TABLE host_usage (
        host_id uuid PRIMARY KEY,
        vcpus bigint NOT NULL DEFAULT 0 CHECK (vcpus >= 0),
        memory_bytes bigint NOT NULL DEFAULT 0 CHECK (memory_bytes >= 0),
        disk_bytes bigint NOT NULL DEFAULT 0 CHECK (disk_bytes >= 0),
        instances integer NOT NULL DEFAULT 0 CHECK (instances >= 0)
      ) WITH (fillfactor = 50)`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
