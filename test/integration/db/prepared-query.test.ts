import { Client, Pool } from 'pg';
import { PreparingClient } from '../../../src/core/db/preparing-client';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';

/** How many statements of other connections are prepared is not seen: each connection tells its own. */
const prepared = `SELECT count(*)::int AS n FROM pg_prepared_statements WHERE name LIKE 'auto_%' AND statement LIKE `;

describe('prepared statements', () => {
  let db: TestDatabase;
  let ours: PreparingClient;
  let plain: Client;
  beforeAll(async () => {
    db = await startTestDatabase();
    ours = new PreparingClient(db.url);
    plain = new Client(db.url);
    await ours.connect();
    await plain.connect();
  }, 60_000);
  afterAll(async () => {
    await ours?.end();
    await plain?.end();
    await db?.close();
  });

  /** Often enough that the last one is prepared and described before. */
  const often = async (text: string, values: unknown[]) => {
    for (let i = 0; i < 6; i += 1) await ours.query(text, values);
    return ours.query<Record<string, unknown>>(text, values);
  };

  it('give the rows that the driver gives', async () => {
    const text = `SELECT n, n::bigint AS big, n::numeric / 3 AS numeric, 'it''s' || n AS text, NULL::text AS nothing, n % 2 = 0 AS even, md5(n::text)::uuid AS id,
        ARRAY['a', NULL, 'b'] AS list, json_build_object('n', n) AS json, jsonb_build_array(n) AS jsonb, '\\x00ff'::bytea AS bytes, '10.0.0.1'::inet AS address,
        '02:00:00:00:00:01'::macaddr AS mac, date '2026-02-28' AS day, interval '1 hour' AS span, timestamp '2026-01-01 00:00:00' AS local, n AS "a ""quoted"" name", 1 AS twice, 2 AS twice
      FROM generate_series(1, $1::int) n`;
    const { rows, rowCount, command } = await often(text, [3]);
    const expected = await plain.query(text, [3]);
    expect(rows).toEqual(expected.rows);
    expect({ rowCount, command }).toEqual({ rowCount: 3, command: 'SELECT' });
    expect((await ours.query(`${prepared} '%it''''s%'`)).rows).toEqual([{ n: 1 }]);
  });

  it.each(['UTC', 'Asia/Kathmandu', 'America/New_York'])('give times as the driver does, in %s', async (zone) => {
    for (const client of [ours, plain]) await client.query(`SET TIME ZONE '${zone}'`);
    const times = [
      '2026-11-29 04:06:57.123456+00',
      '2026-11-29 04:06:57+00',
      '2026-02-28 23:59:59.999999+00',
      '2024-02-29 12:00:00.1+00',
      '1969-12-31 23:59:59.5+00',
      '1970-01-01 00:00:00+00',
      '9999-12-31 23:59:59.999+00',
      '10000-01-01 00:00:00+00',
      '0044-03-15 00:00:00+00 BC',
      'infinity',
    ];
    const text = 'SELECT t::timestamptz AS at FROM unnest($1::text[]) AS t';
    expect((await often(text, [times])).rows).toEqual((await plain.query(text, [times])).rows);
  });

  it('answer each question with its own rows, of however many that are under way at once', async () => {
    const texts = ['SELECT $1::int AS one', 'SELECT $1::int AS two, 2 AS more', 'UPDATE pg_temp.t SET n = $1'];
    await ours.query('CREATE TEMP TABLE t (n int)');
    await ours.query('INSERT INTO t VALUES (0)');
    const asked = Array.from({ length: 60 }, (_, i) => ours.query(texts[i % 3] ?? '', [i]));
    const answers = await Promise.all(asked);
    expect(answers.map(({ rows, rowCount }) => [rows, rowCount])).toEqual(
      answers.map((_, i) => [i % 3 === 0 ? [{ one: i }] : i % 3 === 1 ? [{ two: i, more: 2 }] : [], 1]),
    );
  });

  it('fail alone, and run again after it', async () => {
    const text = 'SELECT 1 / $1::int AS n';
    await often(text, [1]);
    const [failed, well] = await Promise.allSettled([ours.query(text, [0]), ours.query(text, [1])]);
    expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'division by zero', code: '22012' } });
    expect(well).toMatchObject({ status: 'fulfilled', value: { rows: [{ n: 1 }] } });
  });

  it('are refused by the server once their columns have changed, and not read by an old description', async () => {
    await ours.query('CREATE TEMP TABLE kept AS SELECT 1 AS n');
    const text = 'SELECT * FROM pg_temp.kept WHERE n = $1';
    await often(text, [1]);
    await ours.query('ALTER TABLE kept ADD COLUMN more text DEFAULT $$new$$');
    await expect(ours.query(text, [1])).rejects.toThrow('cached plan must not change result type');
  });

  it('are described once per connection, and then only asked', async () => {
    const text = 'SELECT $1::int AS described_once';
    await often(text, [1]);
    const { connection } = ours as unknown as { connection: { on(event: string, heard: () => void): void } };
    let described = 0;
    connection.on('rowDescription', () => (described += 1));
    await ours.query(text, [2]);
    expect(described).toBe(0);
    await ours.query('SELECT 3 AS other');
    expect(described).toBe(1);
  });

  it('work through a pool, whose connections each learn for themselves', async () => {
    const pool = new Pool({ connectionString: db.url, max: 4, Client: PreparingClient } as ConstructorParameters<
      typeof Pool
    >[0]);
    try {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) => pool.query('SELECT $1::int AS pooled', [i])),
      );
      expect(answers.map(({ rows }) => rows)).toEqual(answers.map((_, i) => [{ pooled: i }]));
    } finally {
      await pool.end();
    }
  });
});
