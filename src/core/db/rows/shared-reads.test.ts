import { SharedReads } from './shared-reads';

/** Reads that end when told so. */
const controlled = () => {
  const begun: { key: string; end: (value: string) => void; fail: (error: Error) => void }[] = [];
  const reads = new SharedReads<string>();
  const ask = (key: string): Promise<string> =>
    reads.of(key, () => new Promise((end, fail) => begun.push({ key, end, fail })));
  return { begun, ask };
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('shared reads', () => {
  it('are one for all who ask the same in one turn, and none for who asks something else', async () => {
    const { begun, ask } = controlled();
    const all = [ask('a'), ask('b'), ask('a')];
    await turn();
    expect(begun.map(({ key }) => key)).toEqual(['a', 'b']);
    begun[0]?.end('of a');
    begun[1]?.end('of b');
    await expect(Promise.all(all)).resolves.toEqual(['of a', 'of b', 'of a']);
  });

  it('never give what was read before they were asked for', async () => {
    const { begun, ask } = controlled();
    const first = ask('a');
    await turn();
    const others = [ask('a'), ask('a')];
    await turn();
    expect(begun).toHaveLength(1);
    begun[0]?.end('before');
    await expect(first).resolves.toBe('before');
    await turn();
    expect(begun).toHaveLength(2);
    begun[1]?.end('after');
    await expect(Promise.all(others)).resolves.toEqual(['after', 'after']);
  });

  it('fail for all who share one, and begin anew for who comes then', async () => {
    const { begun, ask } = controlled();
    const failing = Promise.allSettled([ask('a'), ask('a')]);
    await turn();
    begun[0]?.fail(new Error('the database is away'));
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = ask('a');
    await turn();
    begun[1]?.end('well again');
    await expect(next).resolves.toBe('well again');
  });
});
