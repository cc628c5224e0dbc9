import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a kept answer was granted for, so that its repetition can be checked against the same; and whether it is sealed.
 */
export class HttpIdempotencyGrants1764300200005 implements MigrationInterface {
  name = 'HttpIdempotencyGrants1764300200005';

  async up(q: QueryRunner): Promise<void> {
    await q.query(
      'ALTER TABLE idempotency_key ADD COLUMN granted text[], ADD COLUMN sealed boolean NOT NULL DEFAULT false',
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
