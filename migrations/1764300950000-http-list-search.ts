import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Columns of names that the `q` of lists looks for by any part of them. */
const names = {
  instance: ['name'],
  flavor: ['name'],
  ssh_key: ['name'],
  image: ['name'],
  volume: ['name'],
  network: ['name'],
  port: ['hostname'],
  host: ['name', 'address'],
  project: ['name'],
  app_user: ['name'],
  api_token: ['name'],
  task_archive: ['subject_name'],
};

/**
 * Indices that search by part of a name and by the beginning of an address stand on. `pg_trgm` comes with PostgreSQL;
 * the owner of a database may add it. The engine's own table of tasks gets none: it is small, and pays for each index
 * at every step.
 */
export class HttpListSearch1764300950000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('CREATE EXTENSION IF NOT EXISTS pg_trgm');
    for (const [table, columns] of Object.entries(names)) {
      for (const column of columns)
        await q.query(`CREATE INDEX ${table}_${column}_trigrams ON ${table} USING gin (${column} gin_trgm_ops)`);
    }
    await q.query('CREATE INDEX port_address_text ON port ((host(address) COLLATE "C"))');
    await q.query('CREATE INDEX network_subnet_text ON network ((host(subnet) COLLATE "C"))');
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
