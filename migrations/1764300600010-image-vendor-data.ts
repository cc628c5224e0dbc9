import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Guests get vendor data of their image too, beside that of their flavor. */
export class ImageVendorData1764300600010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE image ADD COLUMN vendor_data text NOT NULL DEFAULT ''`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
