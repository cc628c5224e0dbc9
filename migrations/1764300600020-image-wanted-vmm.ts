import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The kind of virtual machine monitor that instances of the image run on; null leaves it to flavor, instance and host. */
export class ImageWantedVmm1764300600020 implements MigrationInterface {
  name = 'ImageWantedVmm1764300600020';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE image ADD COLUMN vmm text');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
