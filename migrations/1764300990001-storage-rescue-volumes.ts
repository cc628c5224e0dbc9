import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Beside its root volume an instance may have one that it boots from for a while. */
export class StorageRescueVolumes1764300990001 implements MigrationInterface {
  name = 'StorageRescueVolumes1764300990001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE volume DROP CONSTRAINT volume_role_check,
        DROP CONSTRAINT volume_root_of,
        ADD CONSTRAINT volume_role_check CHECK (role IN ('root', 'data', 'rescue')),
        ADD CONSTRAINT volume_of_instance CHECK ((role = 'data') = (instance_id IS NULL))`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
