import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** EC2's bound on a token's life, in seconds. */
export const maxTokenSeconds = 21_600;

/**
 * Session tokens of EC2's second protocol. Nothing is stored: a token is its expiry, sealed for one port. The key lives
 * as long as the process, so guests fetch a new token after a restart, as they do for an expired one.
 */
export class SessionTokens {
  private readonly key = randomBytes(32);

  issue(portId: string, seconds: number, now = Date.now()): string {
    const expires = Math.floor(now / 1000) + seconds;
    return `${expires}.${this.seal(portId, expires).toString('base64url')}`;
  }

  valid(portId: string, token: string, now = Date.now()): boolean {
    const [expires = '', seal = ''] = token.split('.');
    if (!/^\d{1,12}$/.test(expires) || Number(expires) * 1000 <= now) return false;
    const expected = this.seal(portId, Number(expires));
    const given = Buffer.from(seal, 'base64url');
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  private seal(portId: string, expires: number): Buffer {
    return createHmac('sha256', this.key).update(`${portId}/${expires}`).digest();
  }
}
