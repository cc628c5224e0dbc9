import type { MigrationInterface, QueryRunner } from 'typeorm';

export class HostHugePages1764302000001 implements MigrationInterface {
  name = 'HostHugePages1764302000001';

  /**
   * Huge pages of a host, by their size, are a room of their own: what they take of its memory nothing else can have, so
   * it is no room for instances without them.
   */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE host ADD COLUMN huge_pages jsonb NOT NULL DEFAULT '{"2MiB": 0, "1GiB": 0}'`);
    await runner.query(`
      UPDATE host h SET memory_bytes = greatest(0, h.memory_bytes - p.bytes),
        huge_pages = jsonb_build_object('2MiB', p.small, '1GiB', p.large)
      FROM (
        SELECT i.host_id, sum(pool.size * pool.total) AS bytes,
          coalesce(sum(pool.size * pool.total) FILTER (WHERE pool.size = 2097152), 0) AS small,
          coalesce(sum(pool.size * pool.total) FILTER (WHERE pool.size = 1073741824), 0) AS large
        FROM host_inventory i, LATERAL (
          SELECT (one->>'sizeBytes')::bigint AS size, (one->>'total')::bigint AS total
          FROM jsonb_array_elements(i.data->'memory'->'hugepages') AS one) pool
        GROUP BY i.host_id) p
      WHERE p.host_id = h.id`);
    for (const table of ['host_claim', 'host_usage'])
      await runner.query(
        `ALTER TABLE ${table} ADD COLUMN huge_2mib_bytes bigint NOT NULL DEFAULT 0, ADD COLUMN huge_1gib_bytes bigint NOT NULL DEFAULT 0`,
      );
    await runner.query('ALTER TABLE host_claim DROP CONSTRAINT host_claim_memory_bytes_check');
    await runner.query(`ALTER TABLE host_claim ADD CONSTRAINT host_claim_memory_bytes_check
      CHECK (least(memory_bytes, huge_2mib_bytes, huge_1gib_bytes) >= 0 AND memory_bytes + huge_2mib_bytes + huge_1gib_bytes > 0)`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
