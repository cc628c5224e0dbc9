import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which rules of guests' way out a host's newest document has. */
export class NetworkGuestEgress1764300800003 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE host_network_generation ADD COLUMN egress_digest text');
    await q.query(
      `COMMENT ON COLUMN host_network_generation.egress_digest IS 'SHA-256 of what the newest document says of guests'' way out; null before there was such a thing'`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
