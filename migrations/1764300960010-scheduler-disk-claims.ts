import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SchedulerDiskClaims1764300960010 implements MigrationInterface {
  name = 'SchedulerDiskClaims1764300960010';

  /** Room for disks that belong to no instance; counted in the sums of their host as those of instances are. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE disk_claim (
        volume_id uuid PRIMARY KEY,
        host_id uuid NOT NULL,
        bytes bigint NOT NULL CHECK (bytes >= 0),
        store text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query('CREATE INDEX disk_claim_host ON disk_claim (host_id)');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
