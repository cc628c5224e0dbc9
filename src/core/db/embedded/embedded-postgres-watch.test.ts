import pino from 'pino';
import { EmbeddedPostgresWatch } from './embedded-postgres-watch';

const log = pino({ level: 'silent' });
const times = { lookMs: 1, pauseMs: 1, longestPauseMs: 4 };

describe('the watch over the embedded PostgreSQL', () => {
  /** A server that is gone, and whose first starts fail. */
  const serverFailing = (starts: number) => {
    let up = false;
    let tried = 0;
    const troubles: (string | undefined)[] = [];
    let done: () => void;
    let twice: () => void;
    /** The second start has failed too. */
    const failing = new Promise<void>((resolve) => (twice = resolve));
    const started = new Promise<void>((resolve) => (done = resolve));
    const watch: EmbeddedPostgresWatch = new EmbeddedPostgresWatch(
      {
        runs: () => Promise.resolve(up),
        start: () => {
          troubles.push(watch.trouble);
          tried += 1;
          if (tried === 2) twice();
          if (tried <= starts) return Promise.reject(new Error('no'));
          up = true;
          done();
          return Promise.resolve('url');
        },
      },
      log,
      times,
    );
    return { watch, started, failing, troubles, tried: () => tried };
  };

  it('tries until it is up, says so meanwhile, and leaves it alone then', async () => {
    const { watch, started, troubles, tried } = serverFailing(2);
    watch.start();
    await started;
    await watch.stop();
    expect(tried()).toBe(3);
    expect(watch.trouble).toBeUndefined();
    expect(troubles).toEqual([
      expect.stringMatching(/is being started again/),
      expect.stringMatching(/1 times/),
      expect.stringMatching(/2 times/),
    ]);
  });

  it('ends while starts fail, and tries no more', async () => {
    const { watch, failing, tried } = serverFailing(Infinity);
    watch.start();
    await failing;
    await watch.stop();
    const before = tried();
    expect(before).toBeGreaterThanOrEqual(2);
    expect(watch.trouble).toMatch(/could not be started \d+ times/);
    await new Promise((resolve) => setImmediate(resolve));
    expect(tried()).toBe(before);
  });
});
