import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What is kept of the parts of a host's inventory, and where disks may lie on it, in one column each for all modules,
 * and no longer in one column per part. Claims say in which store they lie by its key.
 */
export class HostParts1764300980000 implements MigrationInterface {
  name = 'HostParts1764300980000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE host ADD COLUMN parts jsonb NOT NULL DEFAULT '{}', ADD COLUMN stores jsonb NOT NULL DEFAULT '[]'`,
    );
    await runner.query(`
      UPDATE host SET parts = jsonb_build_object('vmms', vmms, 'pools', pools),
        stores = (SELECT coalesce(jsonb_agg(jsonb_build_object(
            'key', 'pools/' || (pool->>'name'), 'part', 'pools', 'name', pool->'name', 'bytes', pool->'totalBytes')), '[]')
          FROM jsonb_array_elements(pools) AS pool)`);
    await runner.query('ALTER TABLE host DROP COLUMN vmms, DROP COLUMN pools');
    await runner.query('ALTER TABLE host_claim RENAME COLUMN pool TO store');
    await runner.query(`UPDATE host_claim SET store = 'pools/' || store`);
    await runner.query('ALTER TABLE host_usage RENAME COLUMN pools TO stores');
    await runner.query(`
      UPDATE host_usage SET stores =
        (SELECT coalesce(jsonb_object_agg('pools/' || key, value), '{}') FROM jsonb_each(stores))`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
