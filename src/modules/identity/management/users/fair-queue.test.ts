import { FairQueue } from './fair-queue';

/** Work that ends when the test says so, and the order in which it began. */
class Bench {
  readonly begun: string[] = [];
  private readonly ends: (() => void)[] = [];

  readonly work = (name: string) => (): Promise<void> => {
    this.begun.push(name);
    return new Promise((resolve) => this.ends.push(resolve));
  };

  async endOne(): Promise<void> {
    this.ends.shift()?.();
    for (let i = 0; i < 10; i += 1) await Promise.resolve();
  }
}

const refused = (): Error => new Error('refused');

describe('FairQueue', () => {
  it('serves addresses in turn, and the users of an address in turn, however much one of them asks for', async () => {
    const queue = new FairQueue({ running: 1, perUser: 100, perAddress: 100, total: 1000 });
    const bench = new Bench();
    const all = [];
    for (let i = 0; i < 60; i += 1)
      all.push(queue.run({ address: 'a', user: 'viewer' }, bench.work(`a/viewer ${i}`), refused));
    for (let i = 0; i < 2; i += 1)
      all.push(queue.run({ address: 'a', user: 'anna' }, bench.work(`a/anna ${i}`), refused));
    for (let i = 0; i < 2; i += 1)
      all.push(queue.run({ address: 'b', user: 'bob' }, bench.work(`b/bob ${i}`), refused));
    for (let i = 0; i < 64; i += 1) await bench.endOne();
    await Promise.all(all);
    expect(bench.begun.slice(0, 9)).toEqual([
      'a/viewer 0',
      'a/viewer 1',
      'b/bob 0',
      'a/anna 0',
      'b/bob 1',
      'a/viewer 2',
      'a/anna 1',
      'a/viewer 3',
      'a/viewer 4',
    ]);
    expect(bench.begun).toHaveLength(64);
  });

  it('refuses whoever has too much waiting, and nobody else', async () => {
    const queue = new FairQueue({ running: 1, perUser: 2, perAddress: 3, total: 5 });
    const bench = new Bench();
    const outcomes: string[] = [];
    const ask = (address: string, user: string): void =>
      void queue.run({ address, user }, bench.work(`${address}/${user}`), refused).then(
        () => outcomes.push('done'),
        () => outcomes.push(`${address}/${user} refused`),
      );
    for (const [address, user] of [
      ['x', 'x'],
      ['a', '1'],
      ['a', '1'],
      ['a', '1'],
      ['a', '2'],
      ['a', '3'],
      ['b', '1'],
      ['c', '1'],
      ['d', '1'],
    ] as const)
      ask(address, user);
    for (let i = 0; i < 10; i += 1) await bench.endOne();
    expect(outcomes.filter((o) => o !== 'done')).toEqual(['a/1 refused', 'a/3 refused', 'd/1 refused']);
    expect(bench.begun).toHaveLength(6);
    ask('e', '1');
    expect(bench.begun).toHaveLength(7);
  });

  it('goes on after work that failed', async () => {
    const queue = new FairQueue({ running: 1, perUser: 9, perAddress: 9, total: 9 });
    const asker = { address: 'a', user: 'u' };
    const failing = queue.run(asker, () => Promise.reject(new Error('no')), refused);
    const next = queue.run(asker, () => Promise.resolve('yes'), refused);
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });
});
