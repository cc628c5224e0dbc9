import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A host reports its networks when they change: that it was behind has to be remembered, for it may not say so again.
 */
export class NetworkHostBehind1764300800001 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE host_network_generation ADD COLUMN behind_at timestamptz');
    await q.query(
      `COMMENT ON COLUMN host_network_generation.behind_at IS 'When the host last reported an older document than this one; null once it reported this one, or when another was sent for that reason'`,
    );
    await q.query(
      'CREATE INDEX host_network_behind ON host_network_generation (changed_at) WHERE behind_at IS NOT NULL',
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
