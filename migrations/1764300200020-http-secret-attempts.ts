import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Wrong secrets, counted in the form of rate-limiter-flexible. Unlogged: to be lost in a crash of the database is no
 * harm. The counts of before are not carried over: they are good for five minutes.
 */
export class HttpSecretAttempts1764300200020 implements MigrationInterface {
  name = 'HttpSecretAttempts1764300200020';

  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `CREATE UNLOGGED TABLE secret_attempt (key varchar(255) PRIMARY KEY, points integer NOT NULL DEFAULT 0, expire bigint)`,
    );
    await q.query(`CREATE INDEX secret_attempt_expire ON secret_attempt (expire)`);
    await q.query(`DROP TABLE login_attempt`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
