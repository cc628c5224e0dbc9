import { createDataSource } from '../../../src/core/db/data-source';
import type { GatheredStatement } from '../../../src/core/db/rows/op';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';

describe('the database', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await startTestDatabase();
  }, 60_000);
  afterAll(() => db.close());

  it('runs hooks after the commit and never after a rollback', async () => {
    const ran: string[] = [];
    await db.database.tx(async (op) => {
      op.afterCommit(() => ran.push('outer'));
      await db.database.tx(async (inner) => inner.afterCommit(() => ran.push('inner')), op);
      expect(ran).toEqual([]);
    });
    await expect(
      db.database.tx(async (op) => {
        op.afterCommit(() => ran.push('lost'));
        await db.database.query('SELECT 1/0', [], op);
      }),
    ).rejects.toThrow('division by zero');
    expect(ran).toEqual(['outer', 'inner']);
  });

  it('reads times of a server whose own style and zone are others', async () => {
    const name = (await db.database.query<{ name: string }>('SELECT current_database() AS name'))[0]?.name ?? '';
    await db.database.query(`ALTER DATABASE "${name}" SET datestyle = 'German, DMY'`);
    await db.database.query(`ALTER DATABASE "${name}" SET timezone = 'Asia/Kolkata'`);
    const source = createDataSource(db.url, { pool: 1 });
    await source.initialize();
    try {
      const [row] = await source.query<{ at: unknown; text: string }[]>(
        `SELECT at, (at AT TIME ZONE 'UTC')::text AS text FROM (VALUES ('2026-02-01T03:04:05.678901Z'::timestamptz)) AS v (at)`,
      );
      expect(row).toEqual({ at: new Date('2026-02-01T03:04:05.678Z'), text: '2026-02-01 03:04:05.678901' });
    } finally {
      await source.destroy();
      for (const setting of ['datestyle', 'timezone'])
        await db.database.query(`ALTER DATABASE "${name}" RESET ${setting}`);
    }
  });

  const gathered = {
    sql: 'INSERT INTO kept SELECT v FROM unnest($1::int[]) AS v',
    params: (items: readonly number[]) => [[...items]],
  };
  const kept = async (): Promise<number[]> =>
    (await db.database.query<{ n: number }>('SELECT n FROM kept ORDER BY n')).map((row) => row.n);
  const connections = async (): Promise<number> =>
    (
      await db.database.query<{ n: number }>(
        'SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()',
      )
    )[0]?.n ?? 0;

  describe('a transaction', () => {
    beforeAll(async () => void (await db.database.query('CREATE TABLE kept (n int PRIMARY KEY CHECK (n < 100))')));
    beforeEach(async () => void (await db.database.query('DELETE FROM kept')));

    it('commits what was gathered, from several places, with the rest', async () => {
      await db.database.tx(async (op) => {
        await op.gather(gathered, 1);
        await op.query('INSERT INTO kept VALUES (2)');
        await op.gather(gathered, 3);
        expect(await op.query('SELECT n FROM kept')).toEqual([{ n: 2 }]);
      });
      expect(await kept()).toEqual([1, 2, 3]);
      await db.database.tx((op) => op.gather(gathered, 4));
      await db.database.op.gather(gathered, 5);
      expect(await kept()).toEqual([1, 2, 3, 4, 5]);
    });

    it('has a single item of what is gathered done without a list, where there is a statement for it', async () => {
      const values: GatheredStatement<number> = {
        ...gathered,
        single: { sql: 'INSERT INTO kept VALUES ($1::int + 10)', params: (n) => [n] },
      };
      await db.database.tx((op) => op.gather(values, 1));
      await db.database.tx(async (op) => {
        await op.gather(values, 2);
        await op.gather(values, 3);
      });
      await db.database.op.gather(values, 4);
      expect(await kept()).toEqual([2, 3, 11, 14]);
    });

    it('tells those that wait for its end before those that wait for its commit', async () => {
      const ran: string[] = [];
      await db.database.tx(async (op) => {
        op.afterCommit(() => ran.push('commit'));
        op.afterEnd(() => ran.push('end'));
        await op.query('INSERT INTO kept VALUES (1)');
        expect(ran).toEqual([]);
      });
      expect(ran).toEqual(['end', 'commit']);
    });

    it('is rolled back, without its hooks but those of its end, when what was gathered fails', async () => {
      const ran: string[] = [];
      await expect(
        db.database.tx(async (op) => {
          op.afterCommit(() => ran.push('hook'));
          op.afterEnd(() => ran.push('end'));
          await op.query('INSERT INTO kept VALUES (1)');
          await op.gather(gathered, 100);
        }),
      ).rejects.toThrow('kept_n_check');
      expect(await kept()).toEqual([]);
      expect(ran).toEqual(['end']);
    });

    it('is no success when a statement before its end had failed and was caught', async () => {
      await expect(
        db.database.tx(async (op) => {
          await op.query('INSERT INTO kept VALUES (1)');
          await op.query('SELECT 1/0').catch(() => undefined);
        }),
      ).rejects.toThrow('rolled back');
      expect(await kept()).toEqual([]);
    });

    it('rolls back what was written in it, also by one who joined it', async () => {
      await expect(
        db.database.tx(async (op) => {
          await op.query('INSERT INTO kept VALUES (1)');
          await db.database.tx((joined) => joined.query('INSERT INTO kept VALUES (2)'), op);
          expect(await op.query('SELECT n FROM kept')).toHaveLength(2);
          throw new Error('outer');
        }),
      ).rejects.toThrow('outer');
      expect(await kept()).toEqual([]);
    });

    it('that ends while a statement of it is still to come leaves nothing of it to the next', async () => {
      let late: Promise<unknown> = Promise.resolve();
      await expect(
        db.database.tx((op) => {
          late = op.query('INSERT INTO kept VALUES (1)').catch(() => undefined);
          throw new Error('too early');
        }),
      ).rejects.toThrow('too early');
      await late;
      // Its connection is closed, which the server hears a moment later.
      await waitFor('its end', async () => {
        const states = await db.database.query<{ state: string }>(
          `SELECT state FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
        );
        return states.length === 0;
      });
      expect(await kept()).toEqual([]);
      await Promise.all(Array.from({ length: 40 }, () => db.database.tx((op) => op.query('SELECT 1'))));
    });

    it('runs its only statement by itself when that was announced, and in a transaction after others', async () => {
      await db.database.tx(async (op) => {
        op.last();
        const rows = await op.query<{ before: boolean }>(
          'INSERT INTO kept VALUES (1) RETURNING now() = statement_timestamp() AS before',
        );
        expect(rows).toEqual([{ before: true }]);
        expect(await kept()).toEqual([1]);
      });
      await expect(
        db.database.tx(async (op) => {
          op.last();
          await op.gather(gathered, 9);
        }),
      ).rejects.toThrow('announced its last statement');
      await db.database.tx(async (op) => {
        await op.query('INSERT INTO kept VALUES (2)');
        op.last();
        await op.query('INSERT INTO kept VALUES (3)');
        expect(await kept()).toEqual([1]);
      });
      expect(await kept()).toEqual([1, 2, 3]);
    });

    it('whose connection is cut fails, and costs the pool no connection', async () => {
      await expect(
        db.database.tx(async (op) => {
          const [own] = await op.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
          await db.database.query('SELECT pg_terminate_backend($1)', [own?.pid]);
          await op.query('INSERT INTO kept VALUES (1)');
        }),
      ).rejects.toThrow();
      const before = await connections();
      await Promise.all(
        Array.from({ length: 40 }, (_, i) => db.database.tx((op) => op.query('INSERT INTO kept VALUES ($1)', [i]))),
      );
      expect(await kept()).toHaveLength(40);
      expect(await connections()).toBeLessThanOrEqual(before + db.database.poolSize);
    });
  });

  it('answers requests while work of the process waits for connections', async () => {
    let end: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (end = resolve));
    const work = Array.from({ length: db.database.poolSize * 2 }, () =>
      db.database.tx(async (op) => {
        await op.query('SELECT 1');
        await held;
      }),
    );
    try {
      await expect(db.database.requestOp.query('SELECT 1 AS n')).resolves.toEqual([{ n: 1 }]);
      await expect(db.database.tx((op) => op.query('SELECT 2 AS n'), db.database.requestOp)).resolves.toEqual([
        { n: 2 },
      ]);
    } finally {
      end();
      await Promise.all(work);
    }
  });

  it('hands notifications of a committed transaction to listeners, and says when the connection was remade', async () => {
    const got: (string | null)[] = [];
    let wake: () => void = () => undefined;
    const next = (): Promise<void> => new Promise((resolve) => (wake = resolve));
    const stop = await db.database.listen('test_channel', (payload) => {
      got.push(payload);
      wake();
    });
    let arrived = next();
    await db.database.query(`SELECT pg_notify('test_channel', 'hello')`);
    await arrived;
    arrived = next();
    await db.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'vc-test-listen' AND datname = current_database()`,
    );
    await arrived;
    arrived = next();
    await db.database.query(`SELECT pg_notify('test_channel', 'again')`);
    await arrived;
    await stop();
    expect(got).toEqual(['hello', null, 'again']);
  });
});
