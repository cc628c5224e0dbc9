import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeInstance1764300900000 implements MigrationInterface {
  name = 'ComputeInstance1764300900000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE flavor (
        id uuid PRIMARY KEY,
        name text NOT NULL UNIQUE,
        description text NOT NULL,
        vcpus integer NOT NULL,
        memory_bytes bigint NOT NULL,
        disk_bytes bigint NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query('CREATE INDEX flavor_order ON flavor (created_at DESC, id DESC)');
    await runner.query(`
      CREATE TABLE ssh_key (
        id uuid PRIMARY KEY,
        project_id uuid NOT NULL,
        name text NOT NULL,
        type text NOT NULL,
        fingerprint text NOT NULL,
        public_key text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT ssh_key_name UNIQUE (project_id, name)
      )`);
    await runner.query('CREATE INDEX ssh_key_order ON ssh_key (created_at DESC, id DESC)');
    await runner.query(`
      CREATE TABLE instance (
        id uuid PRIMARY KEY,
        project_id uuid NOT NULL,
        name text NOT NULL,
        hostname text NOT NULL,
        description text NOT NULL,
        flavor_id uuid NOT NULL,
        flavor_name text NOT NULL,
        vcpus integer NOT NULL,
        memory_bytes bigint NOT NULL,
        disk_bytes bigint NOT NULL,
        image_id uuid NOT NULL,
        image_name text NOT NULL,
        architecture text NOT NULL,
        nics jsonb NOT NULL,
        ssh_keys jsonb NOT NULL,
        user_data text NOT NULL,
        stop_grace_seconds integer NOT NULL,
        wanted_host_id uuid,
        host_id uuid,
        vmm text,
        state text NOT NULL,
        state_reason text NOT NULL DEFAULT '',
        power text NOT NULL CHECK (power IN ('on', 'off')),
        generation integer NOT NULL DEFAULT 1,
        task_id uuid,
        observed_state text,
        observed_at timestamptz,
        started_at timestamptz,
        created_by text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT instance_name UNIQUE (project_id, name)
      ) WITH (fillfactor = 70)`);
    await runner.query('CREATE INDEX instance_created ON instance (created_at, id)');
    await runner.query('CREATE INDEX instance_project_created ON instance (project_id, created_at, id)');
    await runner.query('CREATE INDEX instance_by_name ON instance (name, id)');
    await runner.query('CREATE INDEX instance_project_name ON instance (project_id, name, id)');
    await runner.query('CREATE INDEX instance_host ON instance (host_id) WHERE host_id IS NOT NULL');
    await runner.query('CREATE INDEX instance_image ON instance (image_id)');
    await runner.query(`
      CREATE TABLE console_ticket (
        hash bytea PRIMARY KEY,
        instance_id uuid NOT NULL,
        session_id text NOT NULL,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX console_ticket_expiry ON console_ticket (expires_at)');
    await runner.query(`
      CREATE TABLE instance_remainder (
        instance_id uuid PRIMARY KEY,
        host_id uuid NOT NULL,
        generation integer NOT NULL,
        volume_id uuid,
        pool text,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query('CREATE INDEX instance_remainder_host ON instance_remainder (host_id)');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
