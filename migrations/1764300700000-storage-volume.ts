import type { MigrationInterface, QueryRunner } from 'typeorm';

export class StorageVolume1764300700000 implements MigrationInterface {
  name = 'StorageVolume1764300700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE volume (
        id uuid PRIMARY KEY,
        project_id uuid NOT NULL,
        name text NOT NULL,
        role text NOT NULL CHECK (role IN ('root')),
        state text NOT NULL CHECK (state IN ('creating', 'in-use', 'deleting', 'error')),
        bytes bigint NOT NULL CHECK (bytes >= 0 AND bytes % 4096 = 0),
        pool text NOT NULL,
        host_id uuid NOT NULL,
        instance_id uuid NOT NULL,
        image_id uuid NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT volume_instance_role UNIQUE (instance_id, role)
      )`);
    await runner.query('CREATE INDEX volume_created ON volume (created_at, id)');
    await runner.query('CREATE INDEX volume_project_created ON volume (project_id, created_at, id)');
    await runner.query('CREATE INDEX volume_image ON volume (image_id)');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
