import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeWantedVmm1764300900030 implements MigrationInterface {
  name = 'ComputeWantedVmm1764300900030';

  /** The kind of VMM that is asked for; null leaves it to the host. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE flavor ADD COLUMN vmm text');
    await runner.query('ALTER TABLE instance ADD COLUMN wanted_vmm text');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
