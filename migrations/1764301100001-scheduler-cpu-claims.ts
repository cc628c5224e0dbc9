import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SchedulerCpuClaims1764301100001 implements MigrationInterface {
  name = 'SchedulerCpuClaims1764301100001';

  /**
   * CPUs that instances have for themselves, by NUMA node of their host, and the memory that they are bound to there. They
   * go with the claim that they are part of. There are few: sums are made when they are asked for, under the lock of the
   * host's row in `host_usage`.
   */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE cpu_claim (
        instance_id uuid NOT NULL REFERENCES host_claim ON DELETE CASCADE,
        node integer NOT NULL CHECK (node >= 0),
        host_id uuid NOT NULL,
        cpus integer NOT NULL CHECK (cpus > 0),
        memory_bytes bigint NOT NULL CHECK (memory_bytes >= 0),
        PRIMARY KEY (instance_id, node)
      )`);
    await runner.query('CREATE INDEX cpu_claim_host ON cpu_claim (host_id)');
    // Who has CPUs of its own takes none of those that are shared.
    await runner.query('ALTER TABLE host_claim DROP CONSTRAINT host_claim_vcpus_check, ADD CHECK (vcpus >= 0)');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
