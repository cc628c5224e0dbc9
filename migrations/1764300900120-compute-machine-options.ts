import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeMachineOptions1764300900120 implements MigrationInterface {
  name = 'ComputeMachineOptions1764300900120';

  /** What was asked of the machine itself: the options that are on, by name. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE instance ADD COLUMN machine jsonb NOT NULL DEFAULT '{}'");
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
