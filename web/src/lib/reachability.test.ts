import { FakeClock, settle } from './fake-clock';
import { Reachability } from './reachability';

const lab = () => {
  const clock = new FakeClock();
  const looks: { answer: () => void; fail: () => void; signal: AbortSignal }[] = [];
  const reach = new Reachability({
    clock,
    look: (signal) =>
      new Promise((resolve, reject) => {
        looks.push({ answer: () => resolve(null), fail: () => reject(new Error('down')), signal });
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      }),
  });
  return { clock, looks, reach };
};

describe('Reachability', () => {
  it('believes nobody that the server is gone before it has looked itself', async () => {
    const { reach, looks } = lab();
    reach.suspect();
    reach.suspect();
    expect(reach.state.get()).toEqual({ up: true });
    expect(looks).toHaveLength(1);
    looks[0]?.answer();
    await settle();
    expect(reach.state.get()).toEqual({ up: true });
  });

  it('says since when the server was not heard, and looks again until it answers', async () => {
    const { reach, looks, clock } = lab();
    await clock.pass(5000);
    reach.heard();
    const heardAt = clock.now();
    await clock.pass(3000);
    reach.suspect();
    looks[0]?.fail();
    await settle();
    expect(reach.state.get()).toEqual({ up: false, since: heardAt });
    await clock.pass(1000);
    expect(looks).toHaveLength(2);
    looks[1]?.fail();
    await clock.pass(2000);
    expect(looks).toHaveLength(3);
    expect(reach.state.get()).toEqual({ up: false, since: heardAt });
    looks[2]?.answer();
    await settle();
    expect(reach.state.get()).toEqual({ up: true });
    expect(clock.waiting).toBe(0);
  });

  it('takes silence for no answer', async () => {
    const { reach, looks, clock } = lab();
    reach.suspect();
    await clock.pass(5000);
    expect(looks[0]?.signal.aborted).toBe(true);
    expect(reach.state.get().up).toBe(false);
  });

  it('needs no look when something else answers', async () => {
    const { reach, looks, clock } = lab();
    reach.suspect();
    looks[0]?.fail();
    await settle();
    reach.heard();
    await clock.pass(60_000);
    expect(reach.state.get()).toEqual({ up: true });
    expect(looks).toHaveLength(1);
  });
});
