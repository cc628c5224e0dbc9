import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A port that comes while its host is just being taken among those that networks cross to must not be missed: changes
 * are noted for each host that has an address for it, whether it takes part yet or not.
 */
export class NetworkNotedChanges1764304000011 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE OR REPLACE FUNCTION note_network_change(network uuid, host uuid) RETURNS void LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO network_change (network_id, host_id) SELECT network, host
         WHERE EXISTS (SELECT 1 FROM host_underlay WHERE host_id = host AND address IS NOT NULL);
        IF FOUND THEN PERFORM pg_notify('network_change', ''); END IF;
      END $$`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
