import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Ports that are there already may all be on their hosts. */
export class NetworkAttachedPorts1764300800040 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE port ADD COLUMN attached boolean NOT NULL DEFAULT true');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
