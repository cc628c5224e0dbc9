import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeKernel1764301000001 implements MigrationInterface {
  name = 'ComputeKernel1764301000001';

  /** How the kernel is booted that the instance's image brought, which may be deleted while the instance is not. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE instance ADD COLUMN kernel jsonb');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
