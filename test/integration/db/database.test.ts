import { startTestDatabase, type TestDatabase } from '../../support/postgres';

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
    await db.database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'vc-test-listen' AND datname = current_database()`);
    await arrived;
    arrived = next();
    await db.database.query(`SELECT pg_notify('test_channel', 'again')`);
    await arrived;
    await stop();
    expect(got).toEqual(['hello', null, 'again']);
  });
});
