import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a project's images take on the disk is bounded. Images from before count with the size of their disk. */
export class ImageStoredBytes1764300600003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE image ADD COLUMN stored_bytes bigint`);
    await runner.query(
      `COMMENT ON COLUMN image.stored_bytes IS 'Bytes that the stored file takes on the disk, its holes not counted'`,
    );
    await runner.query(`UPDATE image SET stored_bytes = virtual_bytes WHERE state = 'ready'`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
