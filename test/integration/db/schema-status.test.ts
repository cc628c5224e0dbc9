import { createDataSource } from '../../../src/core/db/data-source';
import { loadMigrations, refuseNewerSchema, runMigrations, schemaStatus } from '../../../src/core/db/migrations';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';

describe('a build and the schema of its database', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await startTestDatabase();
  }, 60_000);
  afterAll(() => db.close());

  it('fit when both are at the same migration, lack some when the build is newer, and refuse when it is older', async () => {
    const migrations = await loadMigrations();
    const build = async <T>(
      known: typeof migrations,
      work: (source: ReturnType<typeof createDataSource>) => Promise<T>,
    ): Promise<T> => {
      const source = createDataSource(db.url, { pool: 2, migrations: known });
      await source.initialize();
      try {
        return await work(source);
      } finally {
        await source.destroy();
      }
    };
    await build(migrations, runMigrations);
    const fits = await build(migrations, schemaStatus);
    expect(fits).toMatchObject({ pending: [], unknown: [] });
    expect(() => refuseNewerSchema(fits, '0.1.0')).not.toThrow();

    const older = await build(migrations.slice(0, -1), schemaStatus);
    const newest = migrations.at(-1)?.name ?? '';
    expect(older).toMatchObject({ pending: [], unknown: [newest], newest: { database: newest } });
    expect(older.newest.build).not.toBe(newest);
    expect(() => refuseNewerSchema(older, '0.1.0')).toThrow(
      `its schema is at ${newest}, this build (0.1.0) knows it up to ${older.newest.build}`,
    );

    await db.database.query('DELETE FROM schema_migration WHERE name = $1', [newest]);
    expect(await build(migrations, schemaStatus)).toMatchObject({ pending: [newest], unknown: [] });
  }, 60_000);
});
