import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Flavors and public images are everyone's: so are their events. */
export class EventsEveryone1764300200003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE outbox ADD COLUMN everyone boolean NOT NULL DEFAULT false');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
