import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { ManagementApp } from '../../src/core/app/management-app';
import { configSchemasOf } from '../../src/core/app/declarations';
import { loadConfig } from '../../src/core/config/config-loader';
import { loadMigrations } from '../../src/core/db/migrations';
import { createLogger } from '../../src/core/telemetry/create-logger';
import { Logging } from '../../src/core/telemetry/logging';
import { allModules } from '../../src/modules/all-modules';
import { ApiClient } from '../support/api-client';
import { freePort } from '../support/free-port';
import { startTestDatabase, type TestDatabase } from '../support/postgres';
import { restore } from './database-dump';
import { databaseOf, directoryOf, releases } from './releases';

jest.setTimeout(120_000);

describe.each(releases)('the database of %s', (release) => {
  const fixture = databaseOf(release);
  const rows = (table: string): Record<string, unknown>[] => fixture.tables[table] ?? [];
  let db: TestDatabase;
  let directory: string;
  let app: ManagementApp | undefined;
  let api: ApiClient;

  beforeAll(async () => {
    const all = await loadMigrations();
    const old = all.filter((migration) => fixture.migrations.includes(migration.name));
    expect(old.map((migration) => migration.name).sort()).toEqual([...fixture.migrations].sort());
    db = await startTestDatabase({ migrations: old });
    const client = new Client({ connectionString: db.url });
    await client.connect();
    await restore(client, fixture);
    await client.end();
    directory = mkdtempSync(join(tmpdir(), 'vc-compat-'));
    const state = join(directory, 'state', 'management');
    mkdirSync(state, { recursive: true, mode: 0o700 });
    cpSync(join(directoryOf(release), 'management'), state, { recursive: true });
    const config = await loadConfig({
      env: {
        VC_STACK_STATE_DIR: join(directory, 'state'),
        VC_STACK_RUN_DIR: join(directory, 'run'),
        VC_STACK_DATABASE__URL: db.url,
        VC_STACK_MANAGEMENT__LISTEN: '127.0.0.1',
        VC_STACK_MANAGEMENT__ADDRESS: '127.0.0.1',
        VC_STACK_MANAGEMENT__PORT: String(await freePort()),
        VC_STACK_MANAGEMENT__NODE_PORT: String(await freePort()),
        VC_STACK_LOG__LEVEL: 'error',
      },
      modules: await configSchemasOf(allModules),
    });
    const started = new ManagementApp(config, new Logging(createLogger(config)), allModules, { migrate: true });
    await started.start();
    app = started;
    api = new ApiClient(started.url, true);
    await api.login('admin', readFileSync(join(state, 'admin-password'), 'utf8').trim());
  });
  afterAll(async () => {
    await api?.close();
    await app?.stop();
    await db?.close();
    if (directory) rmSync(directory, { recursive: true, force: true });
  });

  it('is brought up to this build', async () => {
    const applied = await db.database.query<{ name: string }>('SELECT name FROM schema_migration');
    expect(applied).toHaveLength((await loadMigrations()).length);
  });

  it.each(['instances', 'images', 'networks', 'volumes', 'flavors', 'hosts', 'tasks', 'ports'] as const)(
    'serves its %s, each of them',
    async (noun) => {
      const { items } = await api.ok('GET', `/${noun}?limit=100`);
      const stored = rows(noun.slice(0, -1)).map((row) => String(row['id']));
      expect(stored.length).toBeGreaterThan(0);
      expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining(stored));
      // Ports and volumes are seen in their lists alone.
      if (noun === 'ports' || noun === 'volumes') return;
      const [first = ''] = stored;
      expect(await api.ok('GET', `/${noun}/${first}`)).toMatchObject({ id: first });
    },
  );

  it('calls its tasks by the names of this build', async () => {
    const { items } = await api.ok('GET', '/tasks?limit=100&type=instance.');
    const stored = rows('task').filter(({ subject_kind: kind }) => kind === 'instance');
    expect(stored.length).toBeGreaterThan(0);
    expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining(stored.map(({ id }) => id)));
  });

  it('counts what instances have claimed, in each pool', async () => {
    const sums = await db.database.query(
      `SELECT host_id, store, sum(disk_bytes)::float8 AS bytes FROM host_claim GROUP BY host_id, store ORDER BY host_id, store`,
    );
    expect(sums.length).toBeGreaterThan(0);
    expect(
      await db.database.query(
        `SELECT host_id, p.key AS store, p.value::float8 AS bytes FROM host_usage, jsonb_each_text(stores) p ORDER BY host_id, p.key`,
      ),
    ).toEqual(sums);
    const [host] = await db.database.query<{
      stores: { key: string; bytes: number }[];
      parts: Record<string, unknown[]>;
    }>('SELECT stores, parts FROM host');
    expect(host?.stores.map(({ key }) => key)).toEqual(sums.map((row) => (row as { store: string }).store));
    expect(host?.stores.map(({ bytes }) => typeof bytes)).toEqual(['number']);
    expect(host?.parts).toEqual({
      pools: [{ name: 'default', totalBytes: host?.stores[0]?.bytes }],
      vmms: expect.arrayContaining([expect.objectContaining({ kind: 'qemu', usable: true })]),
    });
  });

  it('keeps what its hosts understood', async () => {
    const [host] = await db.database.query<{ revisions: { release: string } }>('SELECT revisions FROM host');
    expect(host?.revisions.release).toBe(release);
  });
});
