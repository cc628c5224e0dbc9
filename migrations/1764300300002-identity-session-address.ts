import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Where a session was opened from: what tells one's own sessions from a stranger's. Unknown for those that are open
 * already.
 */
export class IdentitySessionAddress1764300300002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE session ADD COLUMN remote_address text`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
