import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import pino from 'pino';
import { createDataSource } from '../../../src/core/db/data-source';
import { loadMigrations, runMigrations } from '../../../src/core/db/migrations';
import { EmbeddedPostgres, type EmbeddedPostgresOptions } from '../../../src/core/db/embedded/embedded-postgres';
import { processStartTime } from '../../../src/core/host/processes/process-identity';
import { endProcessesNaming } from '../../../src/core/host/processes/processes-naming';
import { waitFor } from '../../support/wait-for';

describe('embedded PostgreSQL', () => {
  const directory = mkdtempSync('/tmp/vcs-pg-');
  // The server's user must be able to reach its folder.
  chmodSync(directory, 0o755);
  const options = { directory: join(directory, 'state'), runDirectory: join(directory, 'run'), user: 'vc-stack-pg' };
  const server = new EmbeddedPostgres(options, pino({ level: 'silent' }));

  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('runs as an unprivileged user, is found again, and keeps its data over a restart', async () => {
    const url = await server.start();
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('CREATE TABLE kept (n int); INSERT INTO kept VALUES (42)');
    await client.end();
    const pid = Number(readFileSync(join(options.directory, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
    const uid = Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    expect(uid).not.toBe(0);

    expect(await new EmbeddedPostgres(options, pino({ level: 'silent' })).start()).toBe(url);
    expect(Number(readFileSync(join(options.directory, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])).toBe(pid);

    await server.stop();
    await server.start();
    const again = new Client({ connectionString: url });
    await again.connect();
    expect((await again.query('SELECT n FROM kept')).rows).toEqual([{ n: 42 }]);
    await again.end();
  }, 120_000);

  it('is made anew when whoever made it died in the midst of it', async () => {
    const fresh = { ...options, directory: join(directory, 'fresh'), runDirectory: join(directory, 'fresh-run') };
    const starter = startChild(fresh);
    const restarted = new EmbeddedPostgres(fresh, pino({ level: 'silent' }));
    try {
      await waitFor(
        'initdb',
        () => ['new/data', 'data'].some((name) => existsSync(join(fresh.directory, name, 'PG_VERSION'))),
        60_000,
      );
      starter.kill('SIGKILL');
      // As when the machine itself goes down.
      await endProcessesNaming(fresh.directory);
      const client = new Client({ connectionString: await restarted.start() });
      await client.connect();
      expect((await client.query('SELECT current_user AS name')).rows).toEqual([{ name: 'vcstack_owner' }]);
      await client.end();
      expect(readdirSync(fresh.directory).sort()).toEqual([
        'data',
        'owner-password',
        'password',
        expect.stringMatching(/^server-/),
        'setup.log',
      ]);
    } finally {
      starter.kill('SIGKILL');
      await restarted.stop();
    }
  }, 120_000);

  it('works as the owner of its database, who is no superuser', async () => {
    await asOwner(async (client) => {
      const { rows } = await client.query<{ rolsuper: boolean; rolcreaterole: boolean; owner: boolean }>(
        `SELECT rolsuper, rolcreaterole, (SELECT datdba = r.oid FROM pg_database WHERE datname = current_database()) AS owner FROM pg_roles r WHERE rolname = current_user`,
      );
      expect(rows).toEqual([{ rolsuper: false, rolcreaterole: false, owner: true }]);
      await expect(client.query(`COPY (SELECT 1) TO PROGRAM 'true'`)).rejects.toThrow(/permission denied/);
      await expect(client.query(`SELECT pg_read_file('/etc/passwd')`)).rejects.toThrow(/permission denied/);
    });
  }, 60_000);

  it('takes all migrations as that owner', async () => {
    const source = createDataSource(await server.start(), { migrations: await loadMigrations(), pool: 2 });
    await source.initialize();
    try {
      expect((await runMigrations(source)).length).toBeGreaterThan(20);
    } finally {
      await source.destroy();
    }
  }, 120_000);

  /** A connection as the superuser, to a database that is as releases before the owner left it. */
  const older = async (): Promise<Client> => {
    await server.start();
    const password = readFileSync(join(options.directory, 'password'), 'utf8').trim();
    const superuser = new Client({
      connectionString: `postgres://vcstack:${password}@/vcstack?host=${encodeURIComponent(options.runDirectory)}&port=5432`,
    });
    superuser.on('error', () => undefined);
    await superuser.connect();
    await superuser.query('ALTER DATABASE vcstack OWNER TO vcstack');
    await superuser.query(`
      CREATE SCHEMA older;
      CREATE TYPE older.mood AS ENUM ('good');
      CREATE TABLE older.thing (id serial PRIMARY KEY, n bigint GENERATED ALWAYS AS IDENTITY, mood older.mood, name text);
      CREATE INDEX thing_name ON older.thing USING gin (name gin_trgm_ops);
      CREATE SEQUENCE older.apart;
      CREATE VIEW older.seen AS SELECT * FROM older.thing;
      CREATE FUNCTION older.tell() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
      CREATE TRIGGER thing_tell AFTER INSERT ON older.thing FOR EACH ROW EXECUTE FUNCTION older.tell();
      INSERT INTO older.thing (name) VALUES ('kept')`);
    rmSync(join(options.directory, 'owner-password'));
    return superuser;
  };
  const expectHandedOver = (): Promise<void> =>
    asOwner(async (client) => {
      expect((await client.query(`SELECT name FROM older.seen`)).rows).toEqual([{ name: 'kept' }]);
      await client.query(
        `INSERT INTO older.thing (name) VALUES ('new'); ALTER TABLE older.thing ADD COLUMN more text; ALTER TYPE older.mood ADD VALUE 'bad'`,
      );
      await client.query(`DROP SCHEMA older CASCADE`);
    });

  it('hands a database over that the superuser made and owned, with all that is in it', async () => {
    await (await older()).end();
    await expectHandedOver();
  }, 60_000);

  it('hands it over all the same when whoever did so, and the server, were killed in the midst of it', async () => {
    const superuser = await older();
    // The schema is handed over before its tables: there it waits.
    await superuser.query('BEGIN; LOCK TABLE older.thing');
    const starter = startChild(options);
    try {
      await waitFor(
        'the hand-over to be in its midst',
        async () => {
          await superuser.query('SELECT pg_stat_clear_snapshot()');
          return (
            (
              await superuser.query(
                `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%OWNER TO vcstack_owner%'`,
              )
            ).rowCount === 1
          );
        },
        40_000,
      );
      starter.kill('SIGKILL');
      const pid = Number(readFileSync(join(options.directory, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
      process.kill(pid, 'SIGKILL');
      await waitFor('the server to go', () => processStartTime(pid) === null);
      await expectHandedOver();
    } finally {
      starter.kill('SIGKILL');
      await superuser.end().catch(() => undefined);
    }
  }, 120_000);

  const startChild = (what: EmbeddedPostgresOptions): ChildProcess =>
    spawn(
      process.execPath,
      [
        '-r',
        require.resolve('../../support/ts-register.js'),
        join(__dirname, 'dying-starter.ts'),
        JSON.stringify(what),
      ],
      { stdio: 'inherit' },
    );

  const asOwner = async (work: (client: Client) => Promise<void>): Promise<void> => {
    const client = new Client({ connectionString: await server.start() });
    await client.connect();
    try {
      await work(client);
    } finally {
      await client.end();
    }
  };
});
