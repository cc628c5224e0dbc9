import { Batches } from './batches';

/** Work that ends when told so. */
const controlled = (apartMs = 50) => {
  const begun: { items: readonly number[]; end: () => void; fail: (error: Error) => void }[] = [];
  const batches = new Batches<number, string>(
    (items) =>
      new Promise((resolve, reject) =>
        begun.push({ items, end: () => resolve(items.map((n) => `<${n}>`)), fail: reject }),
      ),
    apartMs,
  );
  return { begun, batches };
};

describe('batches', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('begins with one at once, and has all that come meanwhile done together, each with its own outcome', async () => {
    const { begun, batches } = controlled();
    const first = batches.add(1);
    const others = [batches.add(2), batches.add(3)];
    await jest.advanceTimersByTimeAsync(1_000);
    expect(begun.map(({ items }) => items)).toEqual([[1]]);
    begun[0]?.end();
    await expect(first).resolves.toBe('<1>');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(begun.map(({ items }) => items)).toEqual([[1], [2, 3]]);
    begun[1]?.end();
    await expect(Promise.all(others)).resolves.toEqual(['<2>', '<3>']);
  });

  it('keeps batches apart, so that what trickles in is gathered', async () => {
    const { begun, batches } = controlled();
    void batches.add(1);
    begun[0]?.end();
    await jest.advanceTimersByTimeAsync(1);
    void batches.add(2);
    await jest.advanceTimersByTimeAsync(10);
    void batches.add(3);
    expect(begun).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(begun.map(({ items }) => items)).toEqual([[1], [2, 3]]);
  });

  it('waits for nothing but the batch at work when none has to be apart', async () => {
    const { begun, batches } = controlled(0);
    const first = batches.add(1);
    const next = [batches.add(2), batches.add(3)];
    begun[0]?.end();
    await first;
    expect(begun.map(({ items }) => items)).toEqual([[1], [2, 3]]);
    begun[1]?.end();
    await expect(Promise.all(next)).resolves.toEqual(['<2>', '<3>']);
  });

  it('fails those of a failed batch, and goes on with the next', async () => {
    const { begun, batches } = controlled();
    const first = batches.add(1);
    const next = batches.add(2);
    begun[0]?.fail(new Error('the database is away'));
    await expect(first).rejects.toThrow('the database is away');
    await jest.advanceTimersByTimeAsync(1_000);
    begun[1]?.end();
    await expect(next).resolves.toBe('<2>');
  });

  it('takes a bounded number at a time', async () => {
    const { begun, batches } = controlled();
    const all = Array.from({ length: 450 }, (_, i) => batches.add(i));
    while (begun.reduce((sum, { items }) => sum + items.length, 0) < 450) {
      begun.at(-1)?.end();
      await jest.advanceTimersByTimeAsync(1_000);
    }
    begun.at(-1)?.end();
    await expect(Promise.all(all)).resolves.toHaveLength(450);
    expect(Math.max(...begun.map(({ items }) => items.length))).toBe(200);
  });
});
