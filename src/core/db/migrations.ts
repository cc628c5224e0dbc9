import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Newable } from 'inversify';
import type { DataSource, MigrationInterface } from 'typeorm';

/** The repository's `migrations/`: TypeScript when run from source, JavaScript when compiled. */
export const migrationsDir = resolve(__dirname, '../../../migrations');

/** Key of the advisory lock that lets one process migrate while others wait. */
const migrationLock = 0x7663_6d69;

/** All migration classes in the folder, oldest first. Throws when a file exports none. */
export const loadMigrations = async (dir: string = migrationsDir): Promise<Newable<MigrationInterface>[]> => {
  const files = (await readdir(dir)).filter((f) => /^\d{13}-.+\.(ts|js)$/.test(f) && !/\.(test|d)\.ts$/.test(f)).sort();
  const classes: Newable<MigrationInterface>[] = [];
  for (const file of files) {
    const loaded = (await import(join(dir, file))) as Record<string, unknown>;
    const found = Object.values(loaded).filter((v): v is Newable<MigrationInterface> => typeof v === 'function' && /\d{13}$/.test(v.name));
    if (found.length === 0) throw new Error(`migrations/${file} exports no migration class`);
    classes.push(...new Set(found));
  }
  return classes;
};

/** Applies what is missing, each migration in its own transaction; several processes may ask at once. Returns the names applied. */
export const runMigrations = async (dataSource: DataSource): Promise<string[]> => {
  const guard = dataSource.createQueryRunner();
  await guard.connect();
  try {
    await guard.query('SET statement_timeout = 0');
    await guard.query('SELECT pg_advisory_lock($1)', [migrationLock]);
    return (await dataSource.runMigrations({ transaction: 'each' })).map((m) => m.name);
  } finally {
    await guard.query('SELECT pg_advisory_unlock_all()');
    await guard.query('RESET statement_timeout');
    await guard.release();
  }
};

/** Names of migrations that the code has and the database lacks. */
export const pendingMigrations = async (dataSource: DataSource): Promise<string[]> => {
  const table = await dataSource.query<{ present: boolean }[]>(`SELECT to_regclass('schema_migration') IS NOT NULL AS present`);
  const applied = table[0]?.present ? await dataSource.query<{ name: string }[]>('SELECT name FROM schema_migration') : [];
  const names = new Set(applied.map((row) => row.name));
  return dataSource.migrations.map((m) => m.name ?? m.constructor.name).filter((name) => !names.has(name));
};
