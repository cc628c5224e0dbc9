import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The port that its user asked to be the way out; without one it is the first whose network has one. */
export class NetworkDefaultRoute1764300800020 implements MigrationInterface {
  name = 'NetworkDefaultRoute1764300800020';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE port ADD COLUMN default_route boolean NOT NULL DEFAULT false');
    await runner.query('CREATE UNIQUE INDEX port_default_route ON port (instance_id) WHERE default_route');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
