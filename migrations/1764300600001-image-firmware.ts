import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What boots the disk. Images from before were left to whatever the VMM has, and still are. */
export class ImageFirmware1764300600001 implements MigrationInterface {
  name = 'ImageFirmware1764300600001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE image ADD COLUMN firmware text NOT NULL DEFAULT 'any' CHECK (firmware IN ('any', 'bios', 'uefi'))`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
