import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { injectable } from 'inversify';
import { Problem } from '../errors/problem';
import { RedisClients } from '../jobs/redis-clients';
import { Logging } from '../telemetry/logging';
import type { Logger } from 'pino';

interface Rule {
  name: string;
  limit: number;
}

const windowMs = 300_000;
const maxEntries = 20_000;

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
 * so that a stranger cannot easily lock somebody out. Counted in Redis when configured, so that it holds over all processes; else per process.
 */
@injectable()
export class LoginLimiter {
  private readonly counts = new Map<string, { until: number; count: number }>();
  private readonly log: Logger;

  constructor(
    private readonly redis: RedisClients,
    logging: Logging,
  ) {
    this.log = logging.for('login-limiter');
  }

  /** Counts an attempt before the password is looked at. Throws 429 `too_many_attempts` with the seconds to wait. */
  async attempt(address: string, name: string): Promise<void> {
    const waits = await Promise.all(this.rules(address, name).map((rule) => this.count(rule)));
    const wait = Math.max(...waits);
    if (wait <= 0) return;
    const retryAfterSeconds = Math.ceil(wait / 1000);
    throw new Problem({ status: 429, code: 'too_many_attempts', detail: `Too many attempts. Try again in ${retryAfterSeconds} seconds.`, extra: { retryAfterSeconds } });
  }

  /** Forgets the attempts of this address and name: it was them. */
  async succeeded(address: string, name: string): Promise<void> {
    const rule = this.rules(address, name)[0];
    if (!rule) return;
    this.counts.delete(rule.name);
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

  /** Milliseconds to wait; 0 when within the limit. */
  private async count(rule: Rule): Promise<number> {
    if (this.redis.enabled) {
      try {
        const [[, count], , [, ttl]] = (await this.redis.shared().multi().incr(rule.name).pexpire(rule.name, windowMs, 'NX').pttl(rule.name).exec()) as [[unknown, number], unknown, [unknown, number]];
        return count > rule.limit ? Math.max(ttl, 1000) : 0;
      } catch (error) {
        this.log.warn({ err: error }, 'Redis does not answer; login attempts are counted in this process');
      }
    }
    return this.countHere(rule);
  }

  private countHere(rule: Rule): number {
    const now = Date.now();
    const known = this.counts.get(rule.name);
    const entry = known && known.until > now ? known : { until: now + windowMs, count: 0 };
    entry.count += 1;
    // Set anew, so that the map's order is that of use and the oldest goes first.
    this.counts.delete(rule.name);
    this.counts.set(rule.name, entry);
    if (this.counts.size > maxEntries) {
      const oldest = this.counts.keys().next().value;
      if (oldest !== undefined) this.counts.delete(oldest);
    }
    return entry.count > rule.limit ? entry.until - now : 0;
  }
}
