import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Newable } from 'inversify';
import type { DataSource, MigrationInterface } from 'typeorm';

/** The repository's `migrations/`: TypeScript when run from source, JavaScript when compiled. */
const migrationsDir = resolve(__dirname, '../../../migrations');

/** Key of the advisory lock that lets one process migrate while others wait. */
const migrationLock = 0x7663_6d69;

/** All migration classes in the folder, oldest first. Throws when a file exports none. */
export const loadMigrations = async (dir: string = migrationsDir): Promise<Newable<MigrationInterface>[]> => {
  const files = (await readdir(dir)).filter((f) => /^\d{13}-.+\.(ts|js)$/.test(f) && !/\.(test|d)\.ts$/.test(f)).sort();
  const classes: Newable<MigrationInterface>[] = [];
  for (const file of files) {
    const loaded = (await import(join(dir, file))) as Record<string, unknown>;
    const found = Object.values(loaded).filter(
      (v): v is Newable<MigrationInterface> => typeof v === 'function' && /\d{13}$/.test(v.name),
    );
    if (found.length === 0) throw new Error(`migrations/${file} exports no migration class`);
    classes.push(...new Set(found));
  }
  return classes;
};

/**
 * Applies what is missing, each migration in its own transaction; several processes may ask at once. Returns the names
 * applied.
 */
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

/** How the schema of a database stands to what this build knows. */
export interface SchemaStatus {
  /** Migrations that this build has and the database lacks. */
  pending: string[];
  /** Migrations that the database has and this build does not know: a newer build made them. */
  unknown: string[];
  /** The newest migration of the database and of this build; empty when there is none. */
  newest: { database: string; build: string };
}

/** Newest by the time in their names. */
const newestOf = (names: readonly string[]): string =>
  [...names].sort((a, b) => a.slice(-13).localeCompare(b.slice(-13))).at(-1) ?? '';

export const schemaStatus = async (dataSource: DataSource): Promise<SchemaStatus> => {
  const table = await dataSource.query<{ present: boolean }[]>(
    `SELECT to_regclass('schema_migration') IS NOT NULL AS present`,
  );
  const applied = table[0]?.present
    ? await dataSource.query<{ name: string }[]>('SELECT name FROM schema_migration')
    : [];
  const there = applied.map((row) => row.name);
  const known = dataSource.migrations.map((m) => m.name ?? m.constructor.name);
  return {
    pending: known.filter((name) => !there.includes(name)),
    unknown: there.filter((name) => !known.includes(name)),
    newest: { database: newestOf(there), build: newestOf(known) },
  };
};

/** Throws when a newer build has changed the schema: what this one would write might be wrong there. */
export const refuseNewerSchema = ({ unknown, newest }: SchemaStatus, buildVersion: string): void => {
  if (unknown.length === 0) return;
  throw new Error(
    `the database was changed by a newer build: its schema is at ${newest.database}, this build (${buildVersion}) knows it up to ${newest.build} ` +
      `and not ${unknown.slice(0, 5).join(', ')}${unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''}. Start that build or a newer one, or restore a backup from before`,
  );
};
