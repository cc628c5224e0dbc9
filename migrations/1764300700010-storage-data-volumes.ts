import type { MigrationInterface, QueryRunner } from 'typeorm';

export class StorageDataVolumes1764300700010 implements MigrationInterface {
  name = 'StorageDataVolumes1764300700010';

  /** Volumes of tenants beside the root volumes of instances, and which instance has which of them. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE volume
        DROP CONSTRAINT volume_role_check,
        DROP CONSTRAINT volume_state_check,
        ALTER COLUMN instance_id DROP NOT NULL,
        ALTER COLUMN image_id DROP NOT NULL,
        ADD COLUMN protected boolean NOT NULL DEFAULT false,
        ADD CONSTRAINT volume_role_check CHECK (role IN ('root', 'data')),
        ADD CONSTRAINT volume_state_check
          CHECK (state IN ('creating', 'available', 'attaching', 'in-use', 'detaching', 'deleting', 'error')),
        ADD CONSTRAINT volume_root_of CHECK ((role = 'root') = (instance_id IS NOT NULL))`);
    // Root volumes are called as their instances were: of those several may have had one name.
    await runner.query(`CREATE UNIQUE INDEX volume_name ON volume (project_id, name) WHERE role = 'data'`);
    await runner.query('CREATE INDEX volume_host ON volume (host_id)');
    await runner.query(`
      CREATE TABLE volume_attachment (
        volume_id uuid NOT NULL REFERENCES volume (id),
        instance_id uuid NOT NULL,
        position integer NOT NULL CHECK (position > 0),
        mode text NOT NULL CHECK (mode IN ('rw', 'ro')),
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (volume_id, instance_id),
        CONSTRAINT volume_attachment_position UNIQUE (instance_id, position)
      )`);
    // Until there are disks that several machines may have at a time, one has it.
    await runner.query('CREATE UNIQUE INDEX volume_attachment_once ON volume_attachment (volume_id)');
    await runner.query(`
      CREATE TABLE volume_tombstone (
        volume_id uuid PRIMARY KEY,
        host_id uuid NOT NULL,
        pool text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
