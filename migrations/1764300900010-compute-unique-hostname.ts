import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Hostnames are unique in a project. Of several instances with one, the oldest keeps it; the others get the end of
 * their id.
 */
export class ComputeUniqueHostname1764300900010 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      UPDATE instance i SET hostname = left(i.hostname, 50) || '-' || right(i.id::text, 12)
      FROM (SELECT id, row_number() OVER (PARTITION BY project_id, hostname ORDER BY created_at, id) AS place FROM instance) p
      WHERE p.id = i.id AND p.place > 1`);
    await q.query('CREATE UNIQUE INDEX instance_hostname ON instance (project_id, hostname)');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
