import type { Database } from '../../../../core/db/database';
import { AuthorityCache, type Known } from './authority-cache';

/** A database that can be heard, for as long as `listening` is not 0. */
class Hearing {
  listening = 1;
  tell: (id: string | null) => void = () => undefined;

  async listen(_channel: string, handler: (id: string | null) => void): Promise<() => Promise<void>> {
    this.tell = handler;
    return async () => undefined;
  }
}

describe('what is known of an authority', () => {
  let hearing: Hearing;
  let cache: AuthorityCache;
  let now: number;
  let asked: number;

  beforeEach(async () => {
    hearing = new Hearing();
    cache = new AuthorityCache(hearing as unknown as Database);
    await cache.start();
    asked = 0;
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => jest.restoreAllMocks());

  const answer =
    (value: string, ids: string[] = ['user'], seconds: number | null = null) =>
    async () => {
      asked += 1;
      return { value, ids, seconds };
    };
  const nobody = async (): Promise<null> => {
    asked += 1;
    return null;
  };

  it('is asked for once, and again when something about it has changed', async () => {
    expect(await cache.through('a', answer('first', ['user', 'session']))).toBe('first');
    expect(await cache.through('b', answer('other', ['somebody else']))).toBe('other');
    expect(await cache.through('a', answer('second'))).toBe('first');
    hearing.tell('session');
    expect(await cache.through('a', answer('second'))).toBe('second');
    expect(await cache.through('b', nobody)).toBe('other');
    expect(asked).toBe(3);
    hearing.tell(null);
    expect(await cache.through('b', nobody)).toBeNull();
  });

  it('is not kept when something changed while it was asked for', async () => {
    let reply: (known: Known<string>) => void = () => undefined;
    const early = cache.through('a', () => new Promise<Known<string>>((resolve) => (reply = resolve)));
    cache.forget('user');
    reply({ value: 'before the change', ids: ['user'], seconds: null });
    expect(await early).toBe('before the change');
    expect(await cache.through('a', nobody)).toBeNull();
  });

  it('is never kept when it is nothing, and what was known goes with it', async () => {
    expect(await cache.through('a', nobody)).toBeNull();
    expect(await cache.through('a', answer('now it is there', ['user'], 1))).toBe('now it is there');
    now += 1_000;
    expect(await cache.through('a', nobody)).toBeNull();
    expect(await cache.through('a', nobody)).toBeNull();
    expect(asked).toBe(4);
  });

  it('holds for as long as the database said, from the question on, and never for long', async () => {
    await cache.through('short', async () => {
      now += 600;
      return { value: 'short', ids: [], seconds: 1 };
    });
    await cache.through('long', answer('long', [], 3600));
    now += 399;
    expect(await cache.through('short', nobody)).toBe('short');
    now += 1;
    expect(await cache.through('short', nobody)).toBeNull();
    expect(await cache.through('long', nobody)).toBe('long');
    now += 4_600;
    expect(await cache.through('long', nobody)).toBeNull();
  });

  it('is not trusted while no notice can come, nor after that what was known before', async () => {
    await cache.through('a', answer('known'));
    hearing.listening = 0;
    expect(await cache.through('a', answer('asked again'))).toBe('asked again');
    expect(await cache.through('a', answer('and again'))).toBe('and again');
    hearing.listening = 2;
    expect(await cache.through('a', answer('with the new connection'))).toBe('with the new connection');
    expect(await cache.through('a', nobody)).toBe('with the new connection');
    await cache.stop();
    expect(await cache.through('a', nobody)).toBeNull();
  });

  it('is not kept when the connection was lost while it was asked for', async () => {
    await cache.through('a', async () => {
      hearing.listening = 2;
      return { value: 'of before', ids: [], seconds: null };
    });
    expect(await cache.through('a', nobody)).toBeNull();
  });

  it('is not trusted before anybody listens', async () => {
    const deaf = new AuthorityCache(hearing as unknown as Database);
    await deaf.through('a', answer('one'));
    expect(await deaf.through('a', answer('two'))).toBe('two');
  });

  it('is bounded: the oldest goes first', async () => {
    for (let i = 0; i <= 10_000; i += 1) await cache.through(`key ${i}`, answer('x'));
    expect(await cache.through('key 0', nobody)).toBeNull();
    expect(await cache.through('key 2', nobody)).toBe('x');
  });
});
