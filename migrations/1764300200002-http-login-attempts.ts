import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Login attempts, counted for all management processes. Unlogged: to be lost in a crash of the database is no harm. */
export class HttpLoginAttempts1764300200002 implements MigrationInterface {
  name = 'HttpLoginAttempts1764300200002';

  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `CREATE UNLOGGED TABLE login_attempt (name text PRIMARY KEY, count int NOT NULL, until timestamptz NOT NULL)`,
    );
    await q.query(`CREATE INDEX login_attempt_until ON login_attempt (until)`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
