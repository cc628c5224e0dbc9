import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeHardware1764302000000 implements MigrationInterface {
  name = 'ComputeHardware1764302000000';

  /** What is asked of the hardware: of a flavor, and of an instance as its flavor said when it was made or resized. */
  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['flavor', 'instance'])
      await runner.query(`ALTER TABLE ${table} ADD COLUMN hardware jsonb NOT NULL DEFAULT '{}'`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
