import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many instances there were by state when they were counted last: whoever reads the metrics counts nothing. */
export class ComputeInstanceFigure1764300900050 implements MigrationInterface {
  name = 'ComputeInstanceFigure1764300900050';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'CREATE TABLE instance_figure (state text PRIMARY KEY, instances integer NOT NULL, counted_at timestamptz NOT NULL)',
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
