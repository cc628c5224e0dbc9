import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Events are forgotten in the order of their numbers: nothing looks for them by their time. */
export class EventsOutboxOrder1764300200006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX outbox_created');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
