import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeLimits1764301000000 implements MigrationInterface {
  name = 'ComputeLimits1764301000000';

  /** How fast disks and cards are: of a flavor, and of an instance as its flavor said when it was made or resized. */
  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['flavor', 'instance'])
      await runner.query(`ALTER TABLE ${table} ADD COLUMN limits jsonb NOT NULL DEFAULT '{"disk": null, "nic": null}'`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
