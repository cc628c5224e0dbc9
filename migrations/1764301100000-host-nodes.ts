import type { MigrationInterface, QueryRunner } from 'typeorm';

export class HostNodes1764301100000 implements MigrationInterface {
  name = 'HostNodes1764301100000';

  /** What placement needs of the NUMA nodes of hosts that have CPUs set aside for instances of their own. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE host ADD COLUMN nodes jsonb NOT NULL DEFAULT '[]'`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
