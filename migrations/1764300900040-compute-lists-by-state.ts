import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lists that a state or a host narrows: each reads its page in order, also where hardly an instance has the state, and
 * the planner cannot know it.
 */
export class ComputeListsByState1764300900040 implements MigrationInterface {
  name = 'ComputeListsByState1764300900040';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX instance_state_created ON instance (state, created_at, id)');
    await runner.query('CREATE INDEX instance_state_name ON instance (state, name, id)');
    await runner.query('CREATE INDEX instance_project_state_created ON instance (project_id, state, created_at, id)');
    await runner.query('CREATE INDEX instance_project_state_name ON instance (project_id, state, name, id)');
    await runner.query('DROP INDEX instance_host');
    await runner.query('CREATE INDEX instance_host ON instance (host_id, created_at, id) WHERE host_id IS NOT NULL');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
