import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Of its image, which may be deleted while the instance is not. */
export class ComputeFirmware1764300900003 implements MigrationInterface {
  name = 'ComputeFirmware1764300900003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE instance ADD COLUMN firmware text NOT NULL DEFAULT 'any' CHECK (firmware IN ('any', 'bios', 'uefi'))`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
