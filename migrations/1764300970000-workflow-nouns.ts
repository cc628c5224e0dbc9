import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The types of tasks as they were called before, and as their noun and verb call them. */
const types: Readonly<Record<string, string>> = {
  'compute.create-instance': 'instance.create',
  'compute.create-instances': 'instance.create-batch',
  'compute.delete-instance': 'instance.delete',
  'compute.start-instance': 'instance.start',
  'compute.stop-instance': 'instance.stop',
  'compute.reboot-instance': 'instance.reboot',
  'network.sync-host': 'host.sync-network',
};

/**
 * A task is called by what it works on and what it does to it. What may be left of a deleted instance on a host is a
 * tombstone.
 */
export class WorkflowNouns1764300970000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const parameters = [Object.keys(types), Object.values(types)];
    for (const table of ['task', 'task_archive'])
      await runner.query(
        `UPDATE ${table} t SET type = n.new FROM unnest($1::text[], $2::text[]) AS n(old, new) WHERE t.type = n.old`,
        parameters,
      );
    await runner.query('ALTER TABLE instance_remainder RENAME TO instance_tombstone');
    await runner.query('ALTER INDEX instance_remainder_host RENAME TO instance_tombstone_host');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
