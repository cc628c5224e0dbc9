import { createHash } from 'node:crypto';
import { injectable } from 'inversify';
import {
  RateLimiterPostgres,
  RateLimiterRedis,
  RateLimiterRes,
  type IRateLimiterStoreOptions,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';
import { Database } from '../db/database';
import { Problem } from '../errors/problem';
import { RedisClients } from '../redis/redis-clients';
import { networkOf } from './server/address-network';

const windowSeconds = 300;

const digestOf = (name: string): string =>
  createHash('sha256').update(name.normalize('NFKC').toLowerCase()).digest('base64url').slice(0, 22);

const pairKey = (address: string, name: string): string => `${networkOf(address)}/${digestOf(name)}`;

const tooMany = (waitMs: number): Problem => {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new Problem({
    status: 429,
    code: 'too_many_attempts',
    detail: `Too many attempts. Try again in ${retryAfterSeconds} seconds.`,
    extra: { retryAfterSeconds },
  });
};

/**
 * Bounds the guessing of secrets, in windows of five minutes, counted over all management processes: in Redis when that
 * is configured and answers, else in the database.
 *
 * - Passwords: 10 attempts per address and name, 60 per address, 100 per name. The last is wide, so that a stranger
 *   cannot easily lock somebody out. A caller who is known already (it changes its password) is counted under its name
 *   alone: its guesses cost nobody else an attempt.
 * - Tokens and tickets of 256 random bits: 60 wrong ones per address. They cannot be guessed, so a right one is never
 *   refused: those who share an address with whoever tries do not notice.
 */
@injectable()
export class SecretLimiter {
  private readonly pairs: Limiter;
  private readonly addresses: Limiter;
  private readonly names: Limiter;
  private readonly tokens: Limiter;

  constructor(redis: RedisClients, database: Database) {
    const limiter = (
      keyPrefix: string,
      points: number,
      more: Pick<IRateLimiterStoreOptions, 'inMemoryBlockOnConsumed'> = {},
    ): Limiter => new Limiter(redis, database, { keyPrefix, points, ...more });
    this.pairs = limiter('login-pair', 10);
    this.addresses = limiter('login-address', 60);
    this.names = limiter('login-name', 100);
    // Whoever goes on makes no work for Redis or the database any more: nothing forgets these counts before their time.
    this.tokens = limiter('token-address', 60, { inMemoryBlockOnConsumed: 61 });
  }

  /** Counts an attempt before the password is looked at. Throws 429 `too_many_attempts` with the seconds to wait. */
  async attempt(address: string, name: string): Promise<void> {
    await refuse([
      this.pairs.count(pairKey(address, name)),
      this.addresses.count(networkOf(address)),
      this.names.count(digestOf(name)),
    ]);
  }

  /** The same for the password of a caller whose identity is known already. */
  async attemptOfCaller(address: string, name: string): Promise<void> {
    await refuse([this.pairs.count(pairKey(address, name)), this.names.count(digestOf(name))]);
  }

  /** Forgets the attempts of this address and name: it was them. */
  succeeded(address: string, name: string): Promise<void> {
    return this.pairs.forget(pairKey(address, name));
  }

  /**
   * Counts a token or ticket that was wrong. Throws 429 `too_many_attempts`, instead of what its caller would answer,
   * once there were too many.
   */
  async failed(address: string): Promise<void> {
    await refuse([this.tokens.count(networkOf(address))]);
  }
}

const refuse = async (counts: readonly Promise<number>[]): Promise<void> => {
  const wait = Math.max(...(await Promise.all(counts)));
  if (wait > 0) throw tooMany(wait);
};

/** One count per key, in Redis or in the database. */
class Limiter {
  private readonly stores: RateLimiterAbstract[];
  private readonly first: RateLimiterAbstract;

  constructor(
    redis: RedisClients,
    database: Database,
    rule: Omit<IRateLimiterStoreOptions, 'storeClient' | 'duration'>,
  ) {
    const options = { ...rule, duration: windowSeconds };
    this.first = new RateLimiterPostgres({
      ...options,
      storeClient: database.dataSource,
      storeType: 'typeorm',
      tableName: 'secret_attempt',
      tableCreated: true,
    });
    this.stores = [this.first];
    if (!redis.enabled) return;
    this.first = new RateLimiterRedis({
      ...options,
      storeClient: redis.shared(),
      rejectIfRedisNotReady: true,
      insuranceLimiter: this.first,
    });
    this.stores.push(this.first);
  }

  /** Milliseconds to wait, 0 when within the limit. Rejects when neither store answers. */
  async count(key: string): Promise<number> {
    try {
      await this.first.consume(key);
      return 0;
    } catch (error) {
      if (error instanceof RateLimiterRes) return Math.max(error.msBeforeNext, 1);
      throw error;
    }
  }

  /** A store that is away is no reason to refuse who has just shown the right password. */
  async forget(key: string): Promise<void> {
    await Promise.allSettled(this.stores.map((store) => store.delete(key)));
  }
}
