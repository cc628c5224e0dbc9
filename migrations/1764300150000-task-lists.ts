import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What lists of tasks filter by. The archive carries these indices, for the engine's own table stays small and pays for
 * each of its indices at every step; only tasks of a host are found by an index there too.
 */
export class TaskLists1764300150000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`CREATE INDEX task_archive_kind ON task_archive (subject_kind, created_at DESC, id DESC)`);
    await q.query(`CREATE INDEX task_archive_name ON task_archive (subject_name, created_at DESC, id DESC)`);
    await q.query(
      `CREATE INDEX task_archive_unwell ON task_archive (created_at DESC, id DESC) WHERE state <> 'succeeded'`,
    );
    await q.query(
      `CREATE INDEX task_archive_project_unwell ON task_archive (project_id, created_at DESC, id DESC) WHERE state <> 'succeeded'`,
    );
    await q.query(
      `CREATE INDEX task_archive_asked ON task_archive (created_at DESC, id DESC) WHERE created_by <> 'system'`,
    );
    await q.query(`CREATE INDEX task_step_host ON task_step (host_id, task_id) WHERE host_id IS NOT NULL`);

    await q.query(`
      CREATE TABLE task_archive_host (
        host_id uuid NOT NULL,
        created_at timestamptz NOT NULL,
        task_id uuid NOT NULL REFERENCES task_archive ON DELETE CASCADE,
        PRIMARY KEY (host_id, created_at, task_id)
      )`);
    await q.query(`CREATE INDEX task_archive_host_task ON task_archive_host (task_id)`);
    await q.query(
      `COMMENT ON TABLE task_archive_host IS 'The hosts that an archived task had a step on, in the order of lists. Filled with the archive, by its trigger'`,
    );
    await q.query(`
      CREATE FUNCTION task_archive_hosts() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO task_archive_host (host_id, created_at, task_id)
        SELECT DISTINCT (s.entry->>'host_id')::uuid, a.created_at, a.id
          FROM archived a CROSS JOIN LATERAL jsonb_array_elements(a.steps) s(entry)
         WHERE s.entry->>'host_id' IS NOT NULL
        ON CONFLICT DO NOTHING;
        RETURN NULL;
      END $$`);
    await q.query(
      `CREATE TRIGGER task_archive_hosts AFTER INSERT ON task_archive REFERENCING NEW TABLE AS archived FOR EACH STATEMENT EXECUTE FUNCTION task_archive_hosts()`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
