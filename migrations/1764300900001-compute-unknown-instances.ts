import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The reconciler looks for these every two seconds: few rows, or none, whatever the number of instances. */
export class ComputeUnknownInstances1764300900001 implements MigrationInterface {
  name = 'ComputeUnknownInstances1764300900001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX instance_unknown ON instance (host_id) WHERE state = 'unknown'`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
