import { JoinedReads } from './joined-reads';

/** Reads that end when told so. */
const controlled = (most = 32) => {
  const begun: { keys: readonly string[]; end: () => void; fail: (error: Error) => void }[] = [];
  const reads = new JoinedReads<undefined, string>(
    (_, keys) =>
      new Promise((resolve, reject) =>
        begun.push({
          keys,
          end: () => resolve(new Map(keys.filter((key) => key !== 'none').map((key) => [key, `<${key}>`]))),
          fail: reject,
        }),
      ),
    most,
  );
  return { begun, ask: (key: string) => reads.of(undefined, key) };
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('joined reads', () => {
  it('are one statement when they come in one turn, each with its own result', async () => {
    const { begun, ask } = controlled();
    const all = [ask('a'), ask('none'), ask('b'), ask('a')];
    await turn();
    expect(begun.map(({ keys }) => keys)).toEqual([['a', 'none', 'b']]);
    begun[0]?.end();
    await expect(Promise.all(all)).resolves.toEqual(['<a>', undefined, '<b>', '<a>']);
  });

  it('never give what was read before they were asked for', async () => {
    const { begun, ask } = controlled();
    const first = ask('a');
    await turn();
    const second = ask('a');
    await turn();
    expect(begun.map(({ keys }) => keys)).toEqual([['a'], ['a']]);
    begun[0]?.end();
    await expect(first).resolves.toBe('<a>');
    begun[1]?.end();
    await expect(second).resolves.toBe('<a>');
  });

  it('gather while two statements are at work', async () => {
    const { begun, ask } = controlled();
    const asked: Promise<unknown>[] = [];
    for (const key of ['a', 'b', 'c', 'd']) {
      asked.push(ask(key));
      await turn();
    }
    expect(begun.map(({ keys }) => keys)).toEqual([['a'], ['b']]);
    begun[1]?.end();
    await turn();
    expect(begun.map(({ keys }) => keys)).toEqual([['a'], ['b'], ['c', 'd']]);
    begun[0]?.end();
    begun[2]?.end();
    await expect(Promise.all(asked)).resolves.toEqual(['<a>', '<b>', '<c>', '<d>']);
  });

  it('take a bounded number at a time', async () => {
    const { begun, ask } = controlled(2);
    const all = ['a', 'b', 'c', 'd', 'e'].map(ask);
    for (let ended = 0; ended < 3; ended += 1) {
      await turn();
      begun[ended]?.end();
    }
    await expect(Promise.all(all)).resolves.toHaveLength(5);
    expect(begun.map(({ keys }) => keys.length)).toEqual([2, 2, 1]);
  });

  it('fail as their statement does, and go on with the next', async () => {
    const { begun, ask } = controlled();
    const failing = [ask('a'), ask('b')];
    await turn();
    const outcome = Promise.allSettled(failing);
    begun[0]?.fail(new Error('the database is away'));
    expect((await outcome).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = ask('a');
    await turn();
    begun[1]?.end();
    await expect(next).resolves.toBe('<a>');
  });
});
