import { Connection, type Attempt } from './connection';
import { FakeClock, settle } from './fake-clock';
import type { Reach } from './reachability';
import { Store } from './store';

/** A connection whose dials a test answers, and that counts what is open at the same time. */
const lab = () => {
  const clock = new FakeClock();
  const reach = { state: new Store<Reach>({ up: true }), suspect: jest.fn() };
  const attempts: Attempt[] = [];
  let open = 0;
  let most = 0;
  const connection = new Connection(
    (attempt) => {
      attempts.push(attempt);
      most = Math.max(most, (open += 1));
      attempt.signal.addEventListener('abort', () => (open -= 1));
    },
    { clock, reach },
  );
  const last = (): Attempt => {
    const found = attempts.at(-1);
    if (found === undefined) throw new Error('nothing was dialled');
    return found;
  };
  return {
    clock,
    reach,
    attempts,
    connection,
    last,
    kind: () => connection.state.get().kind,
    most: () => most,
    open: () => open,
  };
};

describe('Connection', () => {
  it('has one connection at most, whoever asks for another meanwhile', async () => {
    const { connection, attempts, last, clock, most, kind } = lab();
    connection.start();
    connection.retryNow();
    connection.start();
    await clock.pass(100);
    connection.retryNow();
    last().opened();
    connection.retryNow();
    await clock.pass(60_000);
    expect(attempts).toHaveLength(1);
    expect(most()).toBe(1);
    expect(kind()).toBe('open');
  });

  it('waits longer after each failure, up to ten seconds, and starts anew after a good connection', async () => {
    const { connection, attempts, last, clock, most } = lab();
    connection.start();
    const waits: number[] = [];
    for (let n = 0; n < 7; n += 1) {
      last().lost({ why: 'no' });
      const state = connection.state.get();
      waits.push(state.kind === 'waiting' ? state.until - clock.now() : Number.NaN);
      await clock.pass(10_000);
    }
    expect(waits).toEqual([375, 750, 1500, 3000, 6000, 7500, 7500]);
    last().opened();
    await clock.pass(10_000);
    last().lost({ why: 'gone' });
    expect(connection.state.get()).toMatchObject({ kind: 'waiting', why: 'gone', until: clock.now() + 375 });
    expect(attempts).toHaveLength(8);
    expect(most()).toBe(1);
  });

  it('goes on waiting longer when each connection breaks at once', async () => {
    const { connection, last, clock } = lab();
    connection.start();
    for (let n = 0; n < 3; n += 1) {
      last().opened();
      last().lost({ why: 'broken' });
      await clock.pass(2000);
    }
    last().opened();
    last().lost({ why: 'broken' });
    expect(connection.state.get()).toMatchObject({ until: clock.now() + 3000 });
  });

  it('ends after a refusal, whatever the network does, until the user asks again', async () => {
    const { connection, attempts, last, clock, kind, reach } = lab();
    connection.start();
    last().lost({ why: 'You may not do this.', final: true });
    await clock.pass(600_000);
    reach.state.set({ up: false, since: clock.now() });
    reach.state.set({ up: true });
    await clock.pass(600_000);
    expect(connection.state.get()).toEqual({ kind: 'refused', why: 'You may not do this.' });
    expect(attempts).toHaveLength(1);
    expect(clock.waiting).toBe(0);
    connection.hurry();
    expect(attempts).toHaveLength(1);
    connection.retryNow();
    expect(attempts).toHaveLength(2);
    expect(kind()).toBe('connecting');
  });

  it('says since when it is offline, drops its connection, and comes back by itself', async () => {
    const { connection, attempts, last, clock, reach, open } = lab();
    connection.start();
    last().opened();
    reach.state.set({ up: false, since: 42 });
    expect(connection.state.get()).toEqual({ kind: 'offline', since: 42 });
    expect(open()).toBe(0);
    await clock.pass(600_000);
    expect(attempts).toHaveLength(1);
    connection.retryNow();
    expect(reach.suspect).toHaveBeenCalled();
    expect(attempts).toHaveLength(1);
    reach.state.set({ up: true });
    expect(attempts).toHaveLength(2);
    expect(open()).toBe(1);
  });

  it('begins offline when the server does not answer', () => {
    const { connection, attempts, reach, kind } = lab();
    reach.state.set({ up: false, since: 1 });
    connection.start();
    expect(kind()).toBe('offline');
    reach.state.set({ up: true });
    expect(attempts).toHaveLength(1);
  });

  it('gives up a try that takes too long, and ignores what still comes of it', async () => {
    const { connection, attempts, clock, kind, open } = lab();
    connection.start();
    await clock.pass(15_000);
    expect(kind()).toBe('waiting');
    expect(open()).toBe(0);
    attempts[0]?.opened();
    expect(kind()).toBe('waiting');
    await clock.pass(1000);
    attempts[0]?.lost({ why: 'late', final: true });
    expect(kind()).toBe('connecting');
    expect(open()).toBe(1);
  });

  it('takes a dial that throws for lost', async () => {
    const clock = new FakeClock();
    const connection = new Connection(
      async () => {
        throw new Error('no ticket');
      },
      { clock, reach: { state: new Store<Reach>({ up: true }), suspect: () => undefined } },
    );
    connection.start();
    await settle();
    expect(connection.state.get()).toMatchObject({ kind: 'waiting', why: 'no ticket' });
  });

  it('gives up in the end, and begins again when the network comes back', async () => {
    const { connection, attempts, last, clock, kind, reach } = lab();
    connection.start();
    for (let n = 0; n < 200; n += 1) {
      last().lost({ why: 'no' });
      await clock.pass(10_000);
    }
    expect(kind()).toBe('given-up');
    expect(attempts).toHaveLength(120);
    reach.state.set({ up: false, since: 1 });
    reach.state.set({ up: true });
    expect(kind()).toBe('connecting');
  });

  it('is silent once it is closed', async () => {
    const { connection, attempts, last, clock, kind, reach, open } = lab();
    connection.start();
    last().opened();
    connection.close();
    last().lost({ why: 'closed' });
    reach.state.set({ up: false, since: 1 });
    reach.state.set({ up: true });
    connection.retryNow();
    connection.start();
    await clock.pass(60_000);
    expect(kind()).toBe('closed');
    expect([attempts.length, open(), clock.waiting]).toEqual([1, 0, 0]);
  });
});
