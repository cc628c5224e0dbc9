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
    const started = new Promise<void>((resolve) => (done = resolve));
    const watch: EmbeddedPostgresWatch = new EmbeddedPostgresWatch(
      {
        runs: () => Promise.resolve(up),
        start: () => {
          troubles.push(watch.trouble);
          tried += 1;
          if (tried <= starts) return Promise.reject(new Error('no'));
          up = true;
          done();
          return Promise.resolve('url');
        },
      },
      log,
      times,
    );
    return { watch, started, troubles, tried: () => tried };
  };

  it('tries until it is up, says so meanwhile, and leaves it alone then', async () => {
    const { watch, started, troubles, tried } = serverFailing(2);
    watch.start();
    await started;
    await watch.stop();
    expect(tried()).toBe(3);
    expect(watch.trouble).toBeUndefined();
    expect(troubles).toEqual([expect.stringMatching(/is being started again/), expect.stringMatching(/1 times/), expect.stringMatching(/2 times/)]);
  });

  it('ends while starts fail', async () => {
    const { watch } = serverFailing(Infinity);
    watch.start();
    await watch.stop();
    expect(watch.trouble === undefined || watch.trouble.includes('PostgreSQL')).toBe(true);
  });
});
