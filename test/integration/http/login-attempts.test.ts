import { SecretLimiter } from '../../../src/core/http/secret-limiter';
import { Problem } from '../../../src/core/errors/problem';
import { RedisClients } from '../../../src/core/redis/redis-clients';
import { coreContainer, type CoreForTest } from '../../support/http';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { startTestRedis, type TestRedis } from '../../support/redis';
import { waitFor } from '../../support/wait-for';

jest.setTimeout(60_000);

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
