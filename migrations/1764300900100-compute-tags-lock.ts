import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeTagsLock1764300900100 implements MigrationInterface {
  name = 'ComputeTagsLock1764300900100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE instance
        ADD COLUMN protected boolean NOT NULL DEFAULT false,
        ADD COLUMN lock jsonb,
        ADD COLUMN tags jsonb NOT NULL DEFAULT '[]',
        ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}'`);
    await runner.query('CREATE INDEX instance_tags ON instance USING gin (tags jsonb_path_ops)');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
