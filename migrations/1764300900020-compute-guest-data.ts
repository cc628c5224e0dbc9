import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What guests are given beside their user data: the operator's vendor data, of the flavor, and a config drive where one
 * is asked for.
 */
export class ComputeGuestData1764300900020 implements MigrationInterface {
  name = 'ComputeGuestData1764300900020';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE flavor ADD COLUMN vendor_data text NOT NULL DEFAULT ''`);
    await runner.query(`ALTER TABLE instance ADD COLUMN vendor_data text NOT NULL DEFAULT ''`);
    await runner.query(
      `ALTER TABLE instance ADD COLUMN config_drive text CHECK (config_drive IN ('openstack', 'nocloud'))`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
