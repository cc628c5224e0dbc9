import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { injectable } from 'inversify';
import { Problem } from '../errors/problem';
import { RedisClients } from '../jobs/redis-clients';
import { LoginAttemptRepository } from './login-attempt.repository';
import { Logging } from '../telemetry/logging';
import type { Logger } from 'pino';

interface Rule {
  name: string;
  limit: number;
}

const windowMs = 300_000;

/** One home network is one IPv6 /64; a mapped IPv4 address is the IPv4 address. */
const networkOf = (address: string): string => {
  const plain = address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const left = head.split(':').filter(Boolean);
  const right = plain.includes('::') ? tail.split(':').filter(Boolean) : [];
  const groups = [...left, ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0'), ...right];
  return groups.slice(0, 4).join(':');
};

/**
 * Bounds guessing of passwords, in windows of five minutes: 10 attempts per address and name, 60 per address, 100 per name. The last is wide,
 * so that a stranger cannot easily lock somebody out. Counted over all management processes: in Redis when that is configured and answers, else
 * in the database.
 */
@injectable()
export class LoginLimiter {
  private readonly log: Logger;

  constructor(
    private readonly redis: RedisClients,
    private readonly attempts: LoginAttemptRepository,
    logging: Logging,
  ) {
    this.log = logging.for('login-limiter');
  }

  /** Counts an attempt before the password is looked at. Throws 429 `too_many_attempts` with the seconds to wait. */
  async attempt(address: string, name: string): Promise<void> {
    const rules = this.rules(address, name);
    const wait = (await this.countInRedis(rules)) ?? (await this.countInDatabase(rules));
    if (wait <= 0) return;
    const retryAfterSeconds = Math.ceil(wait / 1000);
    throw new Problem({ status: 429, code: 'too_many_attempts', detail: `Too many attempts. Try again in ${retryAfterSeconds} seconds.`, extra: { retryAfterSeconds } });
  }

  /** Forgets the attempts of this address and name: it was them. */
  async succeeded(address: string, name: string): Promise<void> {
    const rule = this.rules(address, name)[0];
    if (!rule) return;
    await this.attempts.forget(rule.name);
    if (this.redis.enabled) await this.redis.shared().del(rule.name).catch(() => undefined);
  }

  private rules(address: string, name: string): Rule[] {
    const network = networkOf(address);
    const user = createHash('sha256').update(name.normalize('NFKC').toLowerCase()).digest('base64url').slice(0, 22);
    return [
      { name: `vc-stack:login:${network}/${user}`, limit: 10 },
      { name: `vc-stack:login:address:${network}`, limit: 60 },
      { name: `vc-stack:login:name:${user}`, limit: 100 },
    ];
  }

  /** Milliseconds to wait, 0 when within the limits; undefined when Redis cannot say. */
  private async countInRedis(rules: readonly Rule[]): Promise<number | undefined> {
    if (!this.redis.enabled) return undefined;
    try {
      return Math.max(...(await Promise.all(rules.map((rule) => this.countOne(rule)))));
    } catch (error) {
      this.log.warn({ err: error }, 'Redis does not answer; login attempts are counted in the database');
      return undefined;
    }
  }

  private async countOne(rule: Rule): Promise<number> {
    const [[, count], , [, ttl]] = (await this.redis.shared().multi().incr(rule.name).pexpire(rule.name, windowMs, 'NX').pttl(rule.name).exec()) as [[unknown, number], unknown, [unknown, number]];
    return count > rule.limit ? Math.max(ttl, 1000) : 0;
  }

  private async countInDatabase(rules: readonly Rule[]): Promise<number> {
    const limits = new Map(rules.map((rule) => [rule.name, rule.limit]));
    const counted = await this.attempts.count([...limits.keys()], windowMs);
    return Math.max(0, ...counted.map(({ name, count, leftMs }) => (count > (limits.get(name) ?? 0) ? leftMs : 0)));
  }
}
