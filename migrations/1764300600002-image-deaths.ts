import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Bytes that take the process with them that works on them are not taken up for ever. */
export class ImageDeaths1764300600002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE image ADD COLUMN deaths int NOT NULL DEFAULT 0`);
    await runner.query(`COMMENT ON COLUMN image.deaths IS 'Processes that died while they worked on the bytes'`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
