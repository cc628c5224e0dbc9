import { KeyedMutex } from './keyed-mutex';

describe('KeyedMutex', () => {
  it('keeps the order of one key, also after a failure', async () => {
    const mutex = new KeyedMutex();
    const seen: string[] = [];
    const slow = mutex.run('a', async () => {
      await new Promise((r) => setImmediate(r));
      seen.push('first');
      throw new Error('expected');
    });
    const next = mutex.run('a', async () => seen.push('second'));
    await expect(slow).rejects.toThrow('expected');
    await next;
    expect(seen).toEqual(['first', 'second']);
  });

  it('does not let one key wait for another', async () => {
    const mutex = new KeyedMutex();
    let release = (): void => undefined;
    const held = mutex.run('a', () => new Promise<void>((resolve) => (release = resolve)));
    await mutex.run('b', async () => undefined);
    release();
    await held;
  });
});
