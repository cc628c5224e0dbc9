import { Chunk } from './chunk';
import { FakeClock, settle } from './fake-clock';
import type { Reach } from './reachability';
import { Store } from './store';

const lab = (current = true) => {
  const clock = new FakeClock();
  const reach = { state: new Store<Reach>({ up: true }), suspect: jest.fn() };
  const fetches: { come: () => void; fail: () => void }[] = [];
  const chunk = new Chunk(
    () =>
      new Promise<string>((resolve, reject) =>
        fetches.push({ come: () => resolve('code'), fail: () => reject(new Error('404')) }),
      ),
    {
      clock,
      reach,
      isCurrent: async () => current,
    },
  );
  const fail = async (): Promise<void> => {
    fetches.at(-1)?.fail();
    await settle();
  };
  return { clock, reach, fetches, chunk, fail };
};

describe('Chunk', () => {
  it('loads once for all that ask', async () => {
    const { chunk, fetches } = lab();
    void chunk.load();
    void chunk.load();
    fetches[0]?.come();
    await settle();
    await chunk.load();
    expect(fetches).toHaveLength(1);
    expect(chunk.state.get()).toEqual({ kind: 'ready', value: 'code' });
  });

  it.each([true, false])(
    'tries again, and then says that it is lost (the console is still the same: %s)',
    async (current) => {
      const { chunk, fetches, fail, clock } = lab(current);
      void chunk.load();
      for (const ms of [500, 2000, 0]) {
        await fail();
        await clock.pass(ms);
      }
      expect(fetches).toHaveLength(3);
      expect(chunk.state.get()).toEqual({ kind: 'lost', updated: !current });
      void chunk.load();
      fetches[3]?.come();
      await settle();
      expect(chunk.state.get().kind).toBe('ready');
    },
  );

  it('waits for the server while it does not answer, and goes on by itself', async () => {
    const { chunk, fetches, fail, clock, reach } = lab();
    void chunk.load();
    await fail();
    reach.state.set({ up: false, since: 1 });
    await clock.pass(500);
    expect(chunk.state.get()).toEqual({ kind: 'offline' });
    reach.state.set({ up: true });
    fetches[1]?.come();
    await settle();
    expect(chunk.state.get().kind).toBe('ready');
  });

  it('says nothing when fetching ahead fails, and loads it when it is needed', async () => {
    const { chunk, fetches, fail } = lab();
    void chunk.prefetch();
    await fail();
    expect(chunk.state.get()).toEqual({ kind: 'none' });
    void chunk.load();
    fetches[1]?.come();
    await settle();
    expect(chunk.state.get().kind).toBe('ready');
  });
});
