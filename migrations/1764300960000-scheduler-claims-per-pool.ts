import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SchedulerClaimsPerPool1764300960000 implements MigrationInterface {
  name = 'SchedulerClaimsPerPool1764300960000';

  /** After the tables of volumes and inventories: what is claimed already is told of the pool that it lies in. */
  async up(runner: QueryRunner): Promise<void> {
    // Copies of what placement needs of the inventory, as for VMMs.
    await runner.query(`ALTER TABLE host ADD COLUMN pools jsonb NOT NULL DEFAULT '[]'`);
    await runner.query(`
      UPDATE host h SET pools = p.pools FROM (
        SELECT i.host_id, jsonb_agg(jsonb_build_object('name', pool->'name', 'totalBytes', pool->'totalBytes')) AS pools
        FROM host_inventory i, jsonb_array_elements(i.data->'pools') AS pool GROUP BY i.host_id) p
      WHERE p.host_id = h.id`);
    await runner.query(`ALTER TABLE host_claim ADD COLUMN pool text NOT NULL DEFAULT 'default'`);
    await runner.query(
      `UPDATE host_claim c SET pool = v.pool FROM volume v WHERE v.instance_id = c.instance_id AND v.role = 'root'`,
    );
    await runner.query('ALTER TABLE host_claim ALTER COLUMN pool DROP DEFAULT');
    // Bytes by pool: in the row of the host, so that one guarded statement still takes all that a claim is.
    await runner.query(`ALTER TABLE host_usage ADD COLUMN pools jsonb NOT NULL DEFAULT '{}'`);
    await runner.query(`
      UPDATE host_usage u SET pools = s.pools FROM (
        SELECT host_id, jsonb_object_agg(pool, bytes) AS pools
        FROM (SELECT host_id, pool, sum(disk_bytes) AS bytes FROM host_claim GROUP BY host_id, pool) b GROUP BY host_id) s
      WHERE s.host_id = u.host_id`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
