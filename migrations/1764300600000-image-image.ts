import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ImageImage1764300600000 implements MigrationInterface {
  name = 'ImageImage1764300600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE image (
        id uuid PRIMARY KEY,
        project_id uuid NOT NULL,
        name text NOT NULL,
        description text NOT NULL,
        state text NOT NULL CHECK (state IN ('queued', 'uploading', 'importing', 'ready', 'error', 'deleting')),
        message text NOT NULL DEFAULT '',
        public boolean NOT NULL,
        url text,
        checksum text,
        claimed_format text,
        source_format text,
        source_bytes bigint,
        virtual_bytes bigint CHECK (virtual_bytes % 4096 = 0),
        sha256 text,
        architecture text NOT NULL,
        phase text CHECK (phase IN ('fetching', 'fetched', 'stored', 'failed')),
        failure_code text,
        task_id uuid,
        worker text,
        worker_seen_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT image_name UNIQUE (project_id, name),
        CONSTRAINT image_ready CHECK (state <> 'ready' OR (sha256 IS NOT NULL AND virtual_bytes IS NOT NULL AND source_format IS NOT NULL))
      )`);
    await runner.query('CREATE INDEX image_created ON image (created_at, id)');
    await runner.query('CREATE INDEX image_project_created ON image (project_id, created_at, id)');
    await runner.query('CREATE INDEX image_public ON image (name) WHERE public');
    await runner.query('CREATE INDEX image_by_name ON image (name)');
    await runner.query('CREATE INDEX image_sha256 ON image (sha256) WHERE sha256 IS NOT NULL');
    await runner.query(
      `CREATE INDEX image_unsettled ON image (state) WHERE state IN ('uploading', 'importing', 'deleting')`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
