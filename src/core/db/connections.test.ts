import type { Pool, PoolClient } from 'pg';
import { Connections, type ConnectionUse } from './connections';

/** Whatever still has a connection or waits for one, at the end of a test. */
let endAll: () => Promise<void>;

/** A pool that has as many connections as it is asked for, and notes how they come back. */
const setUp = (size: number) => {
  const back: boolean[] = [];
  const client = { release: (close: boolean) => void back.push(close) } as unknown as PoolClient;
  const pool = {
    connect: jest.fn((done: (error: Error | undefined, client?: PoolClient) => void) => done(undefined, client)),
  };
  const connections = new Connections(() => pool as unknown as Pool, size);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const take = async (name: string, use: ConnectionUse, close = false): Promise<void> => {
    const { giveBack } = await connections.take(use);
    order.push(name);
    ends.push(() => giveBack(close));
  };
  /** Asks in this order, and lets those who have room have it. */
  const ask = async (use: ConnectionUse, ...names: string[]): Promise<void> => {
    for (const name of names) void take(name, use);
    await settled();
  };
  /** The one that has its connection for longest gives it back. */
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await settled();
  };
  endAll = async () => {
    while (ends.length > 0) await end();
  };
  return { connections, pool, back, order, ask, end };
};
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('connections', () => {
  afterEach(() => endAll());

  it('are left free for requests by work', async () => {
    const { order, ask, end } = setUp(4);
    await ask('work', 'w1', 'w2', 'w3', 'w4');
    expect(order).toEqual(['w1', 'w2', 'w3']);
    await ask('request', 'r1', 'r2');
    expect(order).toEqual(['w1', 'w2', 'w3', 'r1']);
    await end();
    expect(order).toEqual(['w1', 'w2', 'w3', 'r1', 'r2']);
    await end();
    expect(order.at(-1)).toBe('w4');
  });

  it('are all for requests where there is no work', async () => {
    const { order, ask } = setUp(3);
    await ask('request', 'r1', 'r2', 'r3', 'r4');
    expect(order).toEqual(['r1', 'r2', 'r3']);
  });

  it.each([1, 2])('are all for work as well when there are only %i', async (size) => {
    const { order, ask } = setUp(size);
    await ask('work', 'w1', 'w2', 'w3');
    expect(order).toHaveLength(size);
  });

  it('go to requests first, and to work after some of them', async () => {
    const { order, ask, end } = setUp(1);
    await ask('work', 'first', 'w1', 'w2');
    await ask('request', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6');
    for (let i = 0; i < 8; i += 1) await end();
    expect(order).toEqual(['first', 'r1', 'r2', 'r3', 'r4', 'w1', 'r5', 'r6', 'w2']);
  });

  it('are given on when one cannot be made, with the error for whoever wanted it', async () => {
    const { connections, pool, order, ask, end } = setUp(1);
    await ask('request', 'r1');
    pool.connect.mockImplementationOnce((done) => done(new Error('refused')));
    const refused = connections.take('request');
    await ask('request', 'r2');
    await Promise.all([expect(refused).rejects.toThrow('refused'), end()]);
    await settled();
    expect(order).toEqual(['r1', 'r2']);
  });

  it('come back open or closed, as whoever had them says', async () => {
    const { connections, back } = setUp(2);
    (await connections.take('request')).giveBack(true);
    (await connections.take('work')).giveBack(false);
    expect(back).toEqual([true, false]);
  });

  it('are not waited for without end, and not given to whoever has gone', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const { connections, order, ask, end } = setUp(1);
      await ask('work', 'w1');
      const late = connections.take('request');
      const refused = expect(late).rejects.toThrow('timeout exceeded when trying to connect');
      await jest.advanceTimersByTimeAsync(10_000);
      await refused;
      await ask('request', 'r1');
      await end();
      expect(order).toEqual(['w1', 'r1']);
    } finally {
      jest.useRealTimers();
    }
  });
});
