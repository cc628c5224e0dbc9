import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Newable } from 'inversify';
import { Client } from 'pg';
import type { DataSource, MigrationInterface } from 'typeorm';
import { createDataSource } from '../../src/core/db/data-source';
import { Database } from '../../src/core/db/database';
import { loadMigrations, runMigrations } from '../../src/core/db/migrations';
import { freePort } from './free-port';

export interface TestDatabaseOptions {
  entities?: Newable<object>[];
  /** Default: all of `migrations/`. */
  migrations?: Newable<MigrationInterface>[];
  /** Connections at most. Default 20. */
  pool?: number;
}

export interface TestDatabase {
  /** Over loopback. */
  url: string;
  /**
   * The same database over the cluster's Unix socket: reachable from other network namespaces. For `pg`, not for
   * TypeORM.
   */
  socketUrl: string;
  dataSource: DataSource;
  database: Database;
  /** Closes the pool and drops the database. */
  close(): Promise<void>;
}

interface Cluster {
  port: number;
  dir: string;
}

/** Ends the server and removes its files once the process that asked for it is gone, however it ended. */
const supervisor = `
  "$2/postgres" -D "$1/data" >"$1/log" 2>&1 &
  server=$!
  while [ -d "/proc/$3" ] && [ -d "/proc/$server" ]; do sleep 0.3; done
  kill -QUIT "$server" 2>/dev/null
  wait "$server"
  cd / && rm -rf "$1"
`;

const binDir = (): string => {
  const base = '/usr/lib/postgresql';
  const versions = existsSync(base) ? readdirSync(base).filter((v) => existsSync(join(base, v, 'bin/initdb'))) : [];
  const best = versions
    .map(Number)
    .filter((v) => v >= 15)
    .sort((a, b) => a - b)[0];
  if (best === undefined) throw new Error('the tests need PostgreSQL 15 or later: apt-get install postgresql');
  return join(base, String(best), 'bin');
};

const urlOf = (cluster: Cluster, database: string): string =>
  `postgres://postgres@127.0.0.1:${cluster.port}/${database}`;

const admin = async <T>(cluster: Cluster, fn: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client({ connectionString: urlOf(cluster, 'postgres') });
  await client.connect();
  try {
    return await fn(client);
  } finally {
    await client.end();
  }
};

const answers = (cluster: Cluster): Promise<boolean> =>
  admin(cluster, async (c) => {
    await c.query('SELECT 1');
    return true;
  }).catch(() => false);

const startCluster = async (dir: string): Promise<Cluster> => {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir);
  const root = process.getuid?.() === 0;
  const ids = root
    ? {
        uid: Number(execFileSync('id', ['-u', 'postgres']).toString()),
        gid: Number(execFileSync('id', ['-g', 'postgres']).toString()),
      }
    : {};
  if (ids.uid !== undefined && ids.gid !== undefined) chownSync(dir, ids.uid, ids.gid);
  chmodSync(dir, 0o755);
  const bin = binDir();
  execFileSync(
    join(bin, 'initdb'),
    ['-D', join(dir, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...ids, cwd: dir, stdio: 'pipe' },
  );
  const port = await freePort();
  const settings = {
    listen_addresses: "'127.0.0.1'",
    port,
    unix_socket_directories: `'${dir}'`,
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_connections: 300,
    shared_buffers: "'128MB'",
    huge_pages: "'off'",
    max_wal_size: "'256MB'",
    wal_level: 'minimal',
    max_wal_senders: 0,
  };
  writeFileSync(
    join(dir, 'data/postgresql.auto.conf'),
    Object.entries(settings)
      .map(([k, v]) => `${k} = ${v}\n`)
      .join(''),
  );
  const child = spawn('/bin/sh', ['-c', supervisor, 'sh', dir, bin, String(process.pid)], {
    ...ids,
    cwd: dir,
    detached: true,
    stdio: 'ignore',
  });
  child.unref();
  const cluster = { port, dir };
  const end = Date.now() + 20_000;
  while (!(await answers(cluster))) {
    if (Date.now() > end)
      throw new Error(`PostgreSQL did not start: ${readFileSync(join(dir, 'log'), 'utf8').slice(-2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  writeFileSync(join(dir, 'cluster.json'), JSON.stringify(cluster));
  return cluster;
};

/** Test files of one jest process have no memory in common, so the running cluster is found by the process's id. */
const theCluster = async (): Promise<Cluster> => {
  const dir = `/tmp/vc-pg-${process.pid}`;
  const file = join(dir, 'cluster.json');
  if (existsSync(file) && existsSync(dir)) {
    const known = JSON.parse(readFileSync(file, 'utf8')) as Cluster;
    if (await answers(known)) return known;
  }
  return startCluster(dir);
};

let cluster: Promise<Cluster> | undefined;
let creating: Promise<unknown> = Promise.resolve();

const templateFor = async (on: Cluster, migrations: Newable<MigrationInterface>[]): Promise<string> => {
  const key = createHash('sha256')
    .update(migrations.map((m) => `${m.name}\n${String(m)}`).join('\n'))
    .digest('hex')
    .slice(0, 16);
  const name = `template_${key}`;
  const there = await admin(
    on,
    async (c) => (await c.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])).rowCount,
  );
  if (there) return name;
  const building = `building_${randomBytes(6).toString('hex')}`;
  await admin(on, (c) => c.query(`CREATE DATABASE ${building}`));
  const source = createDataSource(urlOf(on, building), { migrations, pool: 2 });
  await source.initialize();
  try {
    await runMigrations(source);
  } finally {
    await source.destroy();
  }
  await admin(on, (c) => c.query(`ALTER DATABASE ${building} RENAME TO ${name}`));
  return name;
};

/**
 * A fresh migrated database on a throwaway cluster (one per jest process, started by the first call, gone with the
 * process). Nothing on it is durable. Call `close()` in `afterAll`.
 */
export const startTestDatabase = async (options: TestDatabaseOptions = {}): Promise<TestDatabase> => {
  const on = await (cluster ??= theCluster());
  const migrations = options.migrations ?? (await loadMigrations());
  const name = `t_${randomBytes(8).toString('hex')}`;
  const created = creating.then(async () => {
    const template = await templateFor(on, migrations);
    await admin(on, (c) => c.query(`CREATE DATABASE ${name} TEMPLATE ${template}`));
  });
  creating = created.catch(() => undefined);
  await created;
  const url = urlOf(on, name);
  const dataSource = createDataSource(url, {
    pool: options.pool ?? 20,
    entities: options.entities ?? [],
    migrations,
    applicationName: 'vc-test',
  });
  await dataSource.initialize();
  const database = new Database(dataSource);
  return {
    url,
    socketUrl: `postgres://postgres@localhost:${on.port}/${name}?host=${encodeURIComponent(on.dir)}`,
    dataSource,
    database,
    close: async () => {
      await database.close();
      await admin(on, (c) => c.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
};
