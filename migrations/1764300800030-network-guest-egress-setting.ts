import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What each management process is told of guests' way out: processes that are told different things are seen. */
export class NetworkGuestEgressSetting1764300800030 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE guest_egress_setting (process uuid PRIMARY KEY, digest text NOT NULL, seen_at timestamptz NOT NULL)`,
    );
    await runner.query(
      `COMMENT ON TABLE guest_egress_setting IS 'SHA-256 of the setting network.guestEgress of each management process, and when the process last showed itself'`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
