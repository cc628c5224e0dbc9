import { SecretLimiter } from '../../../src/core/http/secret-limiter';
import { Problem } from '../../../src/core/errors/problem';
import { Jobs } from '../../../src/core/jobs/jobs';
import { Pruning } from '../../../src/core/app/pruning.service';
import { RedisClients } from '../../../src/core/redis/redis-clients';
import { coreContainer, type CoreForTest } from '../../support/http';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { startTestRedis, type TestRedis } from '../../support/redis';
import { waitFor } from '../../support/wait-for';

jest.setTimeout(60_000);

const everyMs = 200;

describe.each(['PostgreSQL', 'Redis'])('jobs on %s', (backend) => {
  let db: TestDatabase;
  let redis: TestRedis | undefined;
  const cores: CoreForTest[] = [];
  const core = (): CoreForTest => {
    const made = coreContainer(db.database, { redisUrl: redis?.url ?? '' });
    cores.push(made);
    return made;
  };

  beforeAll(async () => {
    db = await startTestDatabase();
    redis = backend === 'Redis' ? await startTestRedis() : undefined;
  });
  // A process without the handler of a later test would take its jobs and fail them.
  afterEach(() =>
    Promise.all(
      cores.splice(0).map(async ({ container }) => {
        await container.get(Jobs).stop();
        await container.get(RedisClients).close();
      }),
    ),
  );
  afterAll(async () => {
    await redis?.stop();
    await db?.close();
  });

  it('runs queued jobs once among several processes, and retries what fails', async () => {
    const [a, b] = [core().container.get(Jobs), core().container.get(Jobs)];
    const done: unknown[] = [];
    let failures = 1;
    for (const jobs of [a, b]) {
      jobs.process('count', async (data) => void done.push(data));
      jobs.process('shaky', async () => {
        if (failures-- > 0) throw new Error('not yet');
        done.push('shaky');
      });
    }
    await expect(a.enqueue('count', {})).rejects.toThrow('not started');
    await Promise.all([a.start(), b.start()]);
    await Promise.all(Array.from({ length: 20 }, (_, n) => a.enqueue('count', { n })));
    await b.enqueue('shaky', {});
    await waitFor('all jobs', () => done.length === 21);
    expect(
      done
        .filter((d) => d !== 'shaky')
        .map((d) => (d as { n: number }).n)
        .sort((x, y) => x - y),
    ).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(done).toContain('shaky');
    expect(() => a.process('count', async () => undefined)).toThrow('already');
  });

  it('repeats on a schedule that all processes share, whether set before or after the start', async () => {
    const processes = [core(), core(), core()].map(({ container }) => container.get(Jobs));
    const runs = { tick: [] as number[], tock: [] as number[] };
    for (const jobs of processes) {
      await jobs.repeat('tick', everyMs, async () => void runs.tick.push(Date.now()));
      await jobs.start();
      await jobs.repeat('tock', everyMs, async () => void runs.tock.push(Date.now()));
    }
    const from = Date.now();
    runs.tick.length = runs.tock.length = 0;
    await waitFor('both to run again', () => runs.tick.length >= 5 && runs.tock.length >= 5);
    // Three processes that each kept the schedule for themselves would run it three times as often.
    for (const times of Object.values(runs))
      expect(times.length).toBeLessThanOrEqual((Date.now() - from) / everyMs + 2);
  });

  it('keeps pruning as one of them', async () => {
    const { container } = core();
    container.bind(Pruning).toSelf().inSingletonScope();
    await container.get(Pruning).start();
    await container.get(Jobs).start();
  });
});

describe('login attempts', () => {
  let db: TestDatabase;
  let redis: TestRedis;
  let cores: CoreForTest[];

  beforeAll(async () => {
    db = await startTestDatabase();
    redis = await startTestRedis();
    cores = [0, 1].map(() => coreContainer(db.database, { redisUrl: redis.url }));
  });
  afterAll(async () => {
    for (const { container } of cores) await container.get(RedisClients).close();
    await redis?.stop();
    await db?.close();
  });

  it('are counted over all processes, in the database when Redis is away', async () => {
    const limiters = cores.map((c) => c.container.get(SecretLimiter));
    const refused = async (address: string): Promise<number> => {
      let n = 0;
      for (let i = 0; i < 14; i++) {
        await limiters[i % 2]?.attempt(address, 'root').catch((e: unknown) => {
          if (!(e instanceof Problem) || e.code !== 'too_many_attempts') throw e;
          n += 1;
        });
      }
      return n;
    };
    await waitFor('Redis to be connected', () =>
      cores.every((c) => c.container.get(RedisClients).shared().status === 'ready'),
    );
    expect(await refused('192.0.2.1')).toBe(4);
    await redis.stop();
    expect(await refused('192.0.2.2')).toBe(4);
    await limiters[0]?.succeeded('192.0.2.2', 'root');
    await limiters[1]?.attempt('192.0.2.2', 'ROOT');
  });
});
