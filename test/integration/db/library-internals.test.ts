import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { Client, Pool, Query } from 'pg';
import { createDataSource } from '../../../src/core/db/data-source';
import {
  checkedVersions,
  connectionWords,
  inOneWrite,
  misuseWords,
  poolOf,
  PreparedQuery,
} from '../../../src/core/db/library-internals';
import { PreparingClient } from '../../../src/core/db/preparing-client';
import { databaseIsAway } from '../../../src/core/db/sql-state';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';

/** Why a part fails: the library, and not the product, is another than it was. */
const changed = (library: string, what: string): string =>
  `${library} has changed: ${what}. What the product takes of it is in src/core/db/library-internals.ts`;

const versionOf = (name: string): string => {
  let dir = dirname(require.resolve(name));
  for (;;) {
    try {
      const read = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as { name?: string; version: string };
      if (read.name === name) return read.version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    dir = dirname(dir);
  }
};

const failureOf = (work: () => Promise<unknown>): Promise<Error> =>
  work().then(
    () => new Error('it did not fail'),
    (error: unknown) => error as Error,
  );

describe('what is taken of pg and TypeORM beyond what they promise, by its looks', () => {
  it.each(Object.entries(checkedVersions))('was checked with %s %s', (library, version) => {
    const found = versionOf(library);
    if (found !== version)
      throw new Error(
        changed(
          library,
          `it is ${found} and was ${version}. See which other parts of this file fail, mend them, and write the new version down`,
        ),
      );
  });

  const inside = (): Record<string, unknown> =>
    new Query({ name: 'a', text: 'SELECT 1', values: [] }) as unknown as Record<string, unknown>;

  it.each(['prepare', 'hasBeenParsed', 'handleRowDescription', 'handleDataRow'])(
    "pg's query has the method %s",
    (name) => {
      if (typeof inside()[name] !== 'function') throw new Error(changed('pg', `Query.${name} is no method`));
    },
  );

  it("pg's query has a name, a result with rows, and a place for the error of a row", () => {
    const { name, _result, _canceledDueToError } = inside();
    if (name !== 'a' || _canceledDueToError !== false || !Array.isArray((_result as { rows?: unknown })?.rows))
      throw new Error(changed('pg', 'Query.name, Query._result.rows or Query._canceledDueToError is not what it was'));
  });
});

describe('what is taken of pg and TypeORM beyond what they promise, on a real server', () => {
  let db: TestDatabase;
  let client: PreparingClient;
  beforeAll(async () => {
    try {
      db = await startTestDatabase();
    } catch (error) {
      throw new Error(changed('pg or TypeORM', `nothing can be asked any more (${String(error)})`), { cause: error });
    }
    client = new PreparingClient(db.url);
    await client.connect();
  }, 60_000);
  afterAll(async () => {
    await client?.end();
    await db?.close();
  });

  describe("TypeORM's pool", () => {
    it("is pg's, is the one that TypeORM's own queries go by, and is gone with the data source", async () => {
      const source = createDataSource(db.url, { pool: 1 });
      await source.initialize();
      const pool = poolOf(source);
      const pid = 'SELECT pg_backend_pid() AS pid';
      const [own] = await source.query<{ pid: number }[]>(pid);
      const [ours] = (await pool.query<{ pid: number }>(pid)).rows;
      if (!own || own.pid !== ours?.pid)
        throw new Error(changed('TypeORM', 'driver.master is no longer the pool that its queries use'));
      await source.destroy();
      expect(() => poolOf(source)).toThrow('Driver not Connected');
    });

    it('makes connections of our kind, at most as many as were asked for', async () => {
      const pool = poolOf(db.dataSource);
      const one = await pool.connect();
      one.release();
      if (!(one instanceof PreparingClient))
        throw new Error(changed('TypeORM', 'extra.Client is not passed to the pool'));
      expect(pool.options.max).toBe(db.database.poolSize);
    });
  });

  describe("pg's stream", () => {
    it('holds what is asked back until the end of the turn, and all of it leaves then', async () => {
      const { stream } = client.connection;
      const sent: string[] = [];
      inOneWrite(client);
      sent.push(`corked ${stream.writableCorked}`, `waiting ${stream.writableLength}`);
      const answers = [client.query('SELECT 1 AS n'), client.query('SELECT $1::int AS n', [2])];
      if (stream.writableCorked < 1 || stream.writableLength === 0)
        throw new Error(changed('pg', `statements do not go by connection.stream, or it is not held back (${sent})`));
      await new Promise((resolve) => process.nextTick(resolve));
      expect(stream.writableCorked).toBe(0);
      expect((await Promise.all(answers)).map(({ rows }) => rows as unknown)).toEqual([[{ n: 1 }], [{ n: 2 }]]);
    });

    it('takes statements before those before them are answered', async () => {
      const { stream } = client.connection;
      inOneWrite(client);
      const lengths = [1, 2, 3].map((n) => {
        void client.query('SELECT $1::int', [n]);
        return stream.writableLength;
      });
      if (!((lengths[0] ?? 0) < (lengths[1] ?? 0) && (lengths[1] ?? 0) < (lengths[2] ?? 0)))
        throw new Error(changed('pg', 'with the option pipeline a statement waits for the answer to the one before'));
      await client.query('SELECT 1');
    });
  });

  describe("pg's query", () => {
    it('is called by the client with each message, asks for the description by the connection, and answers with our rows', async () => {
      const called: string[] = [];
      class Watched extends PreparedQuery {
        override prepare(wire: Parameters<PreparedQuery['prepare']>[0]): void {
          called.push('prepare');
          super.prepare(wire);
        }
        override handleRowDescription(message: Parameters<PreparedQuery['handleRowDescription']>[0]): void {
          called.push('description');
          super.handleRowDescription(message);
        }
        override handleDataRow(message: Parameters<PreparedQuery['handleDataRow']>[0]): void {
          called.push('row');
          super.handleDataRow(message);
        }
      }
      const ask = (n: number) =>
        new Promise<unknown[]>((resolve, reject) =>
          (
            client as unknown as { query(query: Query, done: (e: unknown, r: { rows: unknown[] }) => void): void }
          ).query(
            new Watched('watched', 'SELECT $1::int + g AS n FROM generate_series(0, 1) g', [n]),
            (error, result) => (error ? reject(error as Error) : resolve(result.rows)),
          ),
        );
      const rows = [await ask(1), await ask(5)];
      const expected = ['prepare', 'description', 'row', 'row', 'prepare', 'row', 'row'];
      if (called.join() !== expected.join())
        throw new Error(changed('pg', `it calls a query's ${called.join()}, and called ${expected.join()}`));
      expect(rows).toEqual([
        [{ n: 1 }, { n: 2 }],
        [{ n: 5 }, { n: 6 }],
      ]);
    });

    it('fails with what a row failed with, and leaves the connection well', async () => {
      class Failing extends PreparedQuery {
        override handleRowDescription(): void {
          // As if it had not come.
        }
      }
      const failed = failureOf(
        () =>
          new Promise((resolve, reject) =>
            (client as unknown as { query(query: Query, done: (e: unknown, r: unknown) => void): void }).query(
              new Failing('failing', 'SELECT $1::int', [1]),
              (error, result) => (error ? reject(error as Error) : resolve(result)),
            ),
          ),
      );
      expect((await failed).message).toBe('a row came before its description');
      expect((await client.query('SELECT 7 AS n')).rows).toEqual([{ n: 7 }]);
    });
  });

  describe('the words of errors that have no code', () => {
    /** Takes connections, and says `answer` to what comes first, or nothing. */
    const deaf = async (answer?: string): Promise<{ server: Server; url: string }> => {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => answer !== undefined && socket.write(answer));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return { server, url: `postgres://a:b@127.0.0.1:${(server.address() as AddressInfo).port}/c` };
    };
    const connectTo = async (answer: string | undefined, config: object): Promise<Error> => {
      const { server, url } = await deaf(answer);
      const other = new Client({ connectionString: url, ...config });
      other.on('error', () => undefined);
      try {
        return await failureOf(() => other.connect());
      } finally {
        await other.end().catch(() => undefined);
        server.close();
      }
    };
    const connected = async (work: (other: Client) => Promise<unknown>): Promise<Error> => {
      const other = new Client(db.url);
      other.on('error', () => undefined);
      await other.connect();
      try {
        return await failureOf(() => work(other));
      } finally {
        await other.end().catch(() => undefined);
      }
    };

    const away: Record<string, () => Promise<Error>> = {
      'timeout expired': () => connectTo(undefined, { connectionTimeoutMillis: 20 }),
      'Connection terminated due to connection timeout': async () => {
        const { server, url } = await deaf();
        const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 20 });
        try {
          return await failureOf(() => pool.connect());
        } finally {
          await pool.end();
          server.close();
        }
      },
      'timeout exceeded when trying to connect': async () => {
        const pool = new Pool({ connectionString: db.url, max: 1, connectionTimeoutMillis: 500 });
        const held = await pool.connect();
        try {
          return await failureOf(() => pool.connect());
        } finally {
          held.release();
          await pool.end();
        }
      },
      'Cannot use a pool after calling end': async () => {
        const pool = new Pool({ connectionString: db.url });
        await pool.end();
        return failureOf(() => pool.connect());
      },
      'Connection terminated unexpectedly': () =>
        connected((other) => {
          const asked = other.query('SELECT pg_sleep(5)');
          other.connection.stream.destroy();
          return asked;
        }),
      'Client has encountered a connection error': () =>
        connected(async (other) => {
          const gone = new Promise((resolve) => other.once('end', resolve));
          other.connection.stream.destroy(new Error('cut'));
          await gone;
          return other.query('SELECT 1');
        }),
      'Client was closed': () =>
        connected((other) => {
          void other.end();
          return other.query('SELECT 1');
        }),
      'Query read timeout': () =>
        connected((other) =>
          other.query({ text: 'SELECT pg_sleep(0.2)', query_timeout: 10 } as { text: string; query_timeout: number }),
        ),
      'Received unexpected commandComplete message from backend': () =>
        connected((other) => {
          const failed = new Promise((_, reject) => other.once('error', reject));
          other.connection.emit('commandComplete', { text: 'SELECT 1' });
          return failed;
        }),
      'The server does not support SSL': () => connectTo('N', { ssl: true }),
      'There was an error establishing an SSL connection': () => connectTo('X', { ssl: true }),
      'Driver not Connected': async () => {
        const source = createDataSource(db.url, { pool: 1 });
        await source.initialize();
        const runner = source.createQueryRunner();
        await source.destroy();
        return failureOf(() => runner.query('SELECT 1'));
      },
    };
    const misuse: Record<string, () => Promise<Error>> = {
      'A query must have': () => failureOf(() => client.query({} as { text: string })),
      'Query values must be': () => failureOf(() => client.query({ text: 'SELECT 1', values: 'a' as unknown as [] })),
      'Prepared statements must be unique': async () => {
        await client.query({ name: 'unique', text: 'SELECT $1::int', values: [1] });
        return failureOf(() => client.query({ name: 'unique', text: 'SELECT $1::text', values: [1] }));
      },
      'Passing a function': () =>
        failureOf(
          () => new Promise((_, reject) => poolOf(db.dataSource).query(((e: unknown) => reject(e as Error)) as never)),
        ),
      'circular reference': () => {
        const value: { toPostgres(): unknown } = { toPostgres: () => value };
        return failureOf(() => client.query('SELECT $1::text', [value]));
      },
      'The `rows` option is not supported in pipeline mode': () =>
        failureOf(() => client.query({ text: 'SELECT 1', rows: 1 } as { text: string })),
    };

    const check = async (known: RegExp, words: string, provoke: () => Promise<Error>): Promise<Error> => {
      const error = await provoke();
      if (!error.message.startsWith(words) || !known.test(error.message))
        throw new Error(changed('pg or TypeORM', `where it said "${words}" it says "${error.message}"`), {
          cause: error,
        });
      return error;
    };
    it.each(Object.keys(away))('"%s" means that the database is away', async (words) => {
      const error = await check(connectionWords, words, away[words] ?? (() => Promise.reject(new Error())));
      expect(databaseIsAway(error)).toBe(true);
    });
    it.each(Object.keys(misuse))('"%s" means that the statement is no valid one', async (words) => {
      const error = await check(misuseWords, words, misuse[words] ?? (() => Promise.reject(new Error())));
      expect(databaseIsAway(error)).toBe(false);
    });
    it('are all provoked here', () => {
      const alternatives = (words: RegExp): string[] => words.source.slice(2, -1).split('|');
      const met = (each: string, by: object): boolean =>
        Object.keys(by).some((words) => new RegExp(`^(${each})`).test(words));
      expect(alternatives(connectionWords).filter((each) => !met(each, away))).toEqual([]);
      expect(alternatives(misuseWords).filter((each) => !met(each, misuse))).toEqual([]);
    });
  });
});
