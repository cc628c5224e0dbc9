import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a host last reported, instead of when it was behind: a host that reports nothing new after a document was made
 * is behind too.
 */
export class NetworkHostReported1764300800002 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      'ALTER TABLE host_network_generation DROP COLUMN behind_at, ADD COLUMN reported bigint, ADD COLUMN asked_at timestamptz',
    );
    await q.query(
      `COMMENT ON COLUMN host_network_generation.reported IS 'The generation of the document that the host last said it has; null while it has said nothing'`,
    );
    await q.query(
      `COMMENT ON COLUMN host_network_generation.asked_at IS 'When the host was last given a document only because it was behind'`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
