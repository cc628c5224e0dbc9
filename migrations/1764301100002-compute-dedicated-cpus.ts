import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ComputeDedicatedCpus1764301100002 implements MigrationInterface {
  name = 'ComputeDedicatedCpus1764301100002';

  /** CPUs of its host that an instance has for itself, as the host said last. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE instance ADD COLUMN dedicated_cpus jsonb');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
