import { createHash } from 'node:crypto';
import { injectable } from 'inversify';
import { Problem } from '../errors/problem';
import { networkOf } from './address-network';
import { RedisClients } from '../redis/redis-clients';
import { LoginAttemptRepository } from './login-attempt.repository';
import { Logging } from '../telemetry/logging';
import type { Logger } from 'pino';

interface Rule {
  name: string;
  limit: number;
}

const windowMs = 300_000;

const pairRule = (address: string, name: string): Rule => ({
  name: `vc-stack:login:${networkOf(address)}/${digestOf(name)}`,
  limit: 10,
});
const nameRule = (name: string): Rule => ({ name: `vc-stack:login:name:${digestOf(name)}`, limit: 100 });

const digestOf = (name: string): string =>
  createHash('sha256').update(name.normalize('NFKC').toLowerCase()).digest('base64url').slice(0, 22);

const tooMany = (waitMs: number): Problem => {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  return new Problem({
    status: 429,
    code: 'too_many_attempts',
    detail: `Too many attempts. Try again in ${retryAfterSeconds} seconds.`,
    extra: { retryAfterSeconds },
  });
};

/** Addresses of which this process remembers that they are over the limit; more are asked for anew. */
const maxRemembered = 10_000;

/**
 * Bounds the guessing of secrets, in windows of five minutes, counted over all management processes: in Redis when that
 * is configured and answers, else in the database.
 * - Passwords: 10 attempts per address and name, 60 per address, 100 per name. The last is wide, so that a stranger
 * cannot easily lock somebody
 *   out. A caller who is known already (it changes its password) is counted under its name alone: its guesses cost
 * nobody else an attempt.
 * - Tokens and tickets of 256 random bits: 60 wrong ones per address. They cannot be guessed, so a right one is never
 * refused: those who share an
 *   address with whoever tries do not notice.
 */
@injectable()
export class SecretLimiter {
  private readonly log: Logger;
  /** Networks over the limit of wrong tokens, and until when, of `performance.now()`. */
  private readonly over = new Map<string, number>();

  constructor(
    private readonly redis: RedisClients,
    private readonly attempts: LoginAttemptRepository,
    logging: Logging,
  ) {
    this.log = logging.for('secret-limiter');
  }

  /** Counts an attempt before the password is looked at. Throws 429 `too_many_attempts` with the seconds to wait. */
  async attempt(address: string, name: string): Promise<void> {
    await this.admit([
      pairRule(address, name),
      { name: `vc-stack:login:address:${networkOf(address)}`, limit: 60 },
      nameRule(name),
    ]);
  }

  /** The same for the password of a caller whose identity is known already. */
  async attemptOfCaller(address: string, name: string): Promise<void> {
    await this.admit([pairRule(address, name), nameRule(name)]);
  }

  /** Forgets the attempts of this address and name: it was them. */
  async succeeded(address: string, name: string): Promise<void> {
    const rule = pairRule(address, name);
    await this.attempts.forget(rule.name);
    if (this.redis.enabled)
      await this.redis
        .shared()
        .del(rule.name)
        .catch(() => undefined);
  }

  /**
   * Counts a token or ticket that was wrong. Throws 429 `too_many_attempts`, instead of what its caller would answer,
   * once there were too many.
   */
  async failed(address: string): Promise<void> {
    const network = networkOf(address);
    const until = this.over.get(network) ?? 0;
    const now = performance.now();
    if (until > now) throw tooMany(until - now);
    const wait = await this.count([{ name: `vc-stack:token:address:${network}`, limit: 60 }]);
    if (wait <= 0) return;
    // Whoever goes on does not make work for the database.
    if (this.over.size >= maxRemembered) this.over.clear();
    this.over.set(network, now + wait);
    throw tooMany(wait);
  }

  private async admit(rules: readonly Rule[]): Promise<void> {
    const wait = await this.count(rules);
    if (wait > 0) throw tooMany(wait);
  }

  private async count(rules: readonly Rule[]): Promise<number> {
    return (await this.countInRedis(rules)) ?? (await this.countInDatabase(rules));
  }

  /** Milliseconds to wait, 0 when within the limits; undefined when Redis cannot say. */
  private async countInRedis(rules: readonly Rule[]): Promise<number | undefined> {
    if (!this.redis.enabled) return undefined;
    try {
      return Math.max(...(await Promise.all(rules.map((rule) => this.countOne(rule)))));
    } catch (error) {
      this.log.warn({ err: error }, 'Redis does not answer; attempts are counted in the database');
      return undefined;
    }
  }

  private async countOne(rule: Rule): Promise<number> {
    const [[, count], , [, ttl]] = (await this.redis
      .shared()
      .multi()
      .incr(rule.name)
      .pexpire(rule.name, windowMs, 'NX')
      .pttl(rule.name)
      .exec()) as [[unknown, number], unknown, [unknown, number]];
    return count > rule.limit ? Math.max(ttl, 1000) : 0;
  }

  private async countInDatabase(rules: readonly Rule[]): Promise<number> {
    const limits = new Map(rules.map((rule) => [rule.name, rule.limit]));
    const counted = await this.attempts.count([...limits.keys()], windowMs);
    return Math.max(0, ...counted.map(({ name, count, leftMs }) => (count > (limits.get(name) ?? 0) ? leftMs : 0)));
  }
}
