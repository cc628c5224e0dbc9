import * as argon2 from '@node-rs/argon2';
import { PasswordHasher } from './password-hasher';

jest.mock('@node-rs/argon2', () => ({
  hash: jest.fn(async (password: string) => `hash of ${password}`),
  verify: jest.fn(async (hash: string, password: string) => hash === `hash of ${password}`),
}));

const asker = { address: '192.0.2.1', user: 'anna' };

describe('PasswordHasher', () => {
  const verify = jest.mocked(argon2.verify);
  beforeEach(() => verify.mockClear());

  it('does the same work for a user that does not exist, and says no', async () => {
    const hasher = new PasswordHasher();
    expect(await hasher.verify('hash of x', 'x', asker)).toBe(true);
    expect(await hasher.verify('hash of x', 'y', asker)).toBe(false);
    expect(verify).toHaveBeenCalledTimes(2);
    expect(await hasher.verify(null, 'no user has this hash', asker)).toBe(false);
    expect(await hasher.verify(null, 'x', asker)).toBe(false);
    expect(verify).toHaveBeenCalledTimes(4);
  });

  it('takes the same characters for the same password, and still knows hashes of passwords as they came', async () => {
    const hasher = new PasswordHasher();
    const [nfc, nfd] = ['p\u00e4sswort', 'pa\u0308sswort'];
    expect(await hasher.hash(nfd)).toBe(await hasher.hash(nfc));
    expect(await hasher.verify(await hasher.hash(nfc), nfd, asker)).toBe(true);
    expect(await hasher.verify(`hash of ${nfd}`, nfd, asker)).toBe(true);
    expect(await hasher.verify(`hash of ${nfd}`, 'passwort', asker)).toBe(false);
  });

  it('hashes a few at once, lets some wait and refuses the rest with 503', async () => {
    let running = 0;
    let most = 0;
    const ends: (() => void)[] = [];
    verify.mockImplementation(async () => {
      most = Math.max(most, (running += 1));
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
      return false;
    });
    const hasher = new PasswordHasher();
    const attempts = Array.from({ length: 200 }, () =>
      hasher.verify('h', 'x', asker).catch((error: { code: string }) => error.code),
    );
    await Promise.resolve();
    let settled = false;
    const all = Promise.all(attempts).finally(() => (settled = true));
    while (!settled) {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const results = await all;
    expect(most).toBe(2);
    expect(results.filter((r) => r === false)).toHaveLength(2 + 16);
    expect(results.filter((r) => r === 'busy')).toHaveLength(200 - 18);
    expect(running).toBe(0);
  });
});
