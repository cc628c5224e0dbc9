import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeLastVmm1764301000001 implements MigrationInterface {
  name = 'ComputeLastVmm1764301000001';

  /** Of those that are off it was forgotten on which VMM they ran last: that is unknown, and not a VMM without a name. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query("UPDATE instance SET vmm = NULL WHERE vmm = ''");
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
