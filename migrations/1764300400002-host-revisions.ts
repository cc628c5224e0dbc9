import type { MigrationInterface, QueryRunner } from 'typeorm';

export class HostRevisions1764300400002 implements MigrationInterface {
  name = 'HostRevisions1764300400002';

  /** Null: its agent is from before it told what it understands. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE host ADD COLUMN revisions jsonb');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
