import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Console tickets are channel tickets of core. They lived for 30 seconds, so none is carried over. */
export class ComputeConsoleTickets1764300900011 implements MigrationInterface {
  name = 'ComputeConsoleTickets1764300900011';

  async up(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE console_ticket');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
