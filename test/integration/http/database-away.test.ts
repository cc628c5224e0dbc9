import type { DataSource } from 'typeorm';
import { request, Agent } from 'undici';
import { z } from 'zod';
import { createDataSource } from '../../../src/core/db/data-source';
import { Database } from '../../../src/core/db/database';
import { HttpServer } from '../../../src/core/http/server/http-server';
import { Controller, route, type Route } from '../../../src/core/http/routes/route';
import { DatabaseProxy } from '../../model/database-proxy';
import { coreContainer, testTls } from '../../support/http';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';

jest.setTimeout(60_000);

class RowController extends Controller {
  constructor(private readonly source: DataSource) {
    super();
  }

  override routes(): Route[] {
    const base = { tag: 'rows', scope: 'public', reason: 'a test', response: z.object({ n: z.number() }) } as const;
    return [
      route({ ...base, method: 'POST', path: '/rows', summary: 'Write', status: 201 }, async ({ op }) => {
        await op.query('INSERT INTO row_of_test DEFAULT VALUES');
        await op.query('SELECT pg_sleep(0.005)');
        return { n: 1 };
      }),
      route({ ...base, method: 'GET', path: '/rows', summary: 'Read' }, async ({ op }) => ({
        n: (await op.query('SELECT n FROM row_of_test')).length,
      })),
      // As a library does that gets the data source, and not our way to it.
      route({ ...base, method: 'GET', path: '/rows/orm', summary: 'Read by the mapper' }, async () => ({
        n: (await this.source.query<unknown[]>('SELECT 1 AS n')).length,
      })),
    ];
  }
}

describe('requests in the moment in which the database goes', () => {
  let db: TestDatabase;
  let proxy: DatabaseProxy;
  let database: Database;
  let http: HttpServer;
  const agent = new Agent({ connect: { rejectUnauthorized: false }, connections: 60 });

  beforeAll(async () => {
    db = await startTestDatabase();
    await db.database.query('CREATE TABLE row_of_test (n serial)');
    proxy = await DatabaseProxy.start(db.url);
    const source = createDataSource(proxy.url, { pool: 10 });
    await source.initialize();
    database = new Database(source);
    http = coreContainer(database).container.get(HttpServer);
    http.mount([new RowController(source)]);
    await http.start(testTls());
  });
  afterAll(async () => {
    await agent.destroy();
    await http?.stop();
    await database?.close();
    await proxy?.close();
    await db?.close();
  });

  const ask = async (method: 'GET' | 'POST', path: string): Promise<string> => {
    const { statusCode, headers, body } = await request(`${http.address}/api/v1${path}`, { method, dispatcher: agent });
    const text = await body.text();
    return statusCode === 503
      ? `503 ${headers['retry-after'] === undefined ? 'without a time' : 'later'}`
      : statusCode < 300
        ? 'done'
        : `${statusCode} ${text}`;
  };

  it('are done, or answered 503 with a time to try again, whatever the driver says', async () => {
    const seen = new Set<string>();
    for (let round = 0; round < 8; round += 1) {
      let going = true;
      const workers = Array.from({ length: 24 }, async (_, i) => {
        do seen.add(await ask(i % 3 === 0 ? 'POST' : 'GET', i % 3 === 2 ? '/rows/orm' : '/rows'));
        while (going);
      });
      await waitFor('work', () => seen.has('done'));
      proxy.cut();
      seen.add(await ask('POST', '/rows'));
      proxy.restore();
      going = false;
      await Promise.all(workers);
      await waitFor('the database', async () => (await ask('GET', '/rows')) === 'done');
    }
    expect([...seen].sort()).toEqual(['503 later', 'done']);
  });

  it('are answered 503 while its server says that it stops', async () => {
    const seen = new Set<string>();
    let going = true;
    const workers = Array.from({ length: 12 }, async (_, i) => {
      while (going) seen.add(await ask(i % 2 === 0 ? 'POST' : 'GET', '/rows'));
    });
    for (let i = 0; i < 10; i += 1)
      await db.database
        .query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
        )
        .catch(() => undefined);
    going = false;
    await Promise.all(workers);
    for (const answer of seen) expect(['503 later', 'done']).toContain(answer);
  });
});
