import type { MigrationInterface, QueryRunner } from 'typeorm';

export class HostHosts1764300400001 implements MigrationInterface {
  name = 'HostHosts1764300400001';

  async up(runner: QueryRunner): Promise<void> {
    // Updated with every heartbeat: room on the page and no index on what changes keep that update cheap.
    await runner.query(`
      CREATE TABLE host (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        address text NOT NULL,
        port integer NOT NULL,
        state text NOT NULL,
        schedulable boolean NOT NULL,
        state_reason text NOT NULL,
        last_seen_at timestamptz,
        heartbeat_ok boolean NOT NULL DEFAULT false,
        clock_ok boolean NOT NULL DEFAULT true,
        agent_boot uuid,
        agent_seq bigint NOT NULL DEFAULT 0,
        agent_version text NOT NULL DEFAULT '',
        architecture text NOT NULL DEFAULT '',
        threads integer NOT NULL DEFAULT 0,
        memory_bytes bigint NOT NULL DEFAULT 0,
        disk_bytes bigint NOT NULL DEFAULT 0,
        vmms jsonb NOT NULL DEFAULT '[]',
        created_at timestamptz NOT NULL DEFAULT now()
      ) WITH (fillfactor = 60)`);
    await runner.query('CREATE UNIQUE INDEX host_name ON host (lower(name))');
    await runner.query('CREATE INDEX host_list ON host (name, id)');
    await runner.query(`
      CREATE TABLE host_condition (
        host_id uuid NOT NULL REFERENCES host (id) ON DELETE CASCADE,
        type text NOT NULL,
        status text NOT NULL CHECK (status IN ('true', 'false', 'unknown')),
        reason text NOT NULL,
        message text NOT NULL,
        since timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (host_id, type)
      )`);
    await runner.query(`
      CREATE TABLE host_inventory (
        host_id uuid PRIMARY KEY REFERENCES host (id) ON DELETE CASCADE,
        data jsonb NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(`
      CREATE TABLE host_token (
        id uuid PRIMARY KEY,
        secret_hash text NOT NULL,
        created_by text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        used_at timestamptz,
        key_hash text,
        host_id uuid
      )`);
    await runner.query('CREATE INDEX host_token_list ON host_token (created_at, id)');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
