import { randomUUID } from 'node:crypto';
import { crashed, poweredOff } from '../drivers/vmm-exit';
import { AgentsOfAHost } from './agents-of-a-host-suite';
import type { InstanceManager } from './instance.manager';
import { MapDriver } from './map-driver-suite';

describe('restarts by policy', () => {
  // Each on a host of its own: an agent also starts what others have left there.
  let host: AgentsOfAHost;
  const hosts: AgentsOfAHost[] = [];
  const never = new AbortController().signal;
  let driver: MapDriver;
  let instances: InstanceManager;
  let id: string;
  beforeEach(async () => {
    // Pauses before a restart are waited for by hand; nothing else here has timers.
    jest.useFakeTimers({
      doNotFake: ['Date', 'nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'hrtime', 'setInterval'],
    });
    host = new AgentsOfAHost();
    hosts.push(host);
    host.section = { restarts: { count: 2, windowSeconds: 600 } };
    driver = new MapDriver();
    instances = host.agent(driver);
    id = randomUUID();
  });
  afterEach(async () => {
    await instances.stop();
    jest.useRealTimers();
  });
  afterAll(() => hosts.forEach((each) => each.remove()));

  const spec = (restartPolicy?: 'on-failure') => ({
    name: 'i',
    vcpus: 1,
    memoryBytes: 2 ** 28,
    disks: [],
    ports: [],
    vmm: null,
    ...(restartPolicy && { restartPolicy }),
  });
  const ask = (power: 'on' | 'off', generation: number, policy?: 'on-failure'): Promise<unknown> =>
    instances.ensure({ instanceId: id, generation, spec: spec(policy), power, graceSeconds: 1 }, never);
  const seen = (): { state: string; reason: string } | undefined => instances.list().find((i) => i.instanceId === id);
  const until = async (what: string, is: () => boolean): Promise<void> => {
    for (const end = Date.now() + 20_000; !is(); ) {
      if (Date.now() > end) throw new Error(`never: ${what} (${JSON.stringify(seen())})`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  /** What is at work on it is at its end, also on the disk: another agent finds it there. One call at a time. */
  const settled = (): Promise<unknown> => instances.nmi(id, never).catch(() => undefined);
  const killed = crashed('killed', 'QEMU was ended by SIGKILL', { signal: 'SIGKILL' });
  const fail = async (): Promise<void> => {
    driver.end(driver.newest, killed);
    await until('seen to have failed', () => seen()?.state === 'crashed' && /; it (is|was)/.test(seen()?.reason ?? ''));
    await settled();
  };
  const pauseOver = async (): Promise<void> => {
    await until('running again', () => {
      jest.advanceTimersByTime(60_000);
      return seen()?.state === 'running';
    });
    await settled();
  };

  it('start a machine that failed again, until the budget is used up; then it stays as it is, and says so', async () => {
    await ask('on', 1, 'on-failure');
    await fail();
    expect(seen()?.reason).toBe('QEMU was ended by SIGKILL; it is started again (1 of 2)');
    await pauseOver();
    expect(seen()).toMatchObject({ reason: '', exit: { reason: 'killed', signal: 'SIGKILL' } });
    await fail();
    await pauseOver();
    await fail();
    expect(seen()?.reason).toMatch(/; it was started again 2 times within 10 minutes, and is not any more$/);
    expect(jest.getTimerCount()).toBe(0);
    // Whoever starts it begins anew.
    await ask('on', 2, 'on-failure');
    await fail();
    expect(seen()?.reason).toMatch(/1 of 2/);
  });

  it('are counted across agents, and go on with the next one', async () => {
    await ask('on', 1, 'on-failure');
    await fail();
    await pauseOver();
    await fail();
    await instances.stop();
    instances = host.agent(driver);
    await instances.start();
    expect(seen()?.state).toBe('crashed');
    await pauseOver();
    await instances.stop();
    // It fails while no agent is there.
    driver.end(driver.newest, killed);
    instances = host.agent(driver);
    await instances.start();
    expect(seen()).toMatchObject({
      state: 'crashed',
      reason: expect.stringMatching(/2 times within 10 minutes, and is not any more$/),
    });
  });

  it('count one that could not be started', async () => {
    await ask('on', 1, 'on-failure');
    driver.failStarts = 1;
    await fail();
    const second = /could not be started again; it is started again \(2 of 2\)/;
    await until('a failed start', () => {
      if (driver.order.length < 2) jest.advanceTimersByTime(60_000);
      return second.test(seen()?.reason ?? '');
    });
    await pauseOver();
  });

  it.each([
    ['a policy that says never', undefined, killed, 'crashed'],
    ['a guest that powered off', 'on-failure', poweredOff(false), 'stopped'],
  ] as const)('do not come after %s', async (_what, policy, exit, state) => {
    await ask('on', 1, policy);
    driver.end(driver.newest, exit);
    await until('ended', () => seen()?.state === state);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each(['off', 'removed'])('do not come for one that is %s meanwhile', async (what) => {
    await ask('on', 1, 'on-failure');
    await fail();
    if (what === 'off') await ask('off', 2, 'on-failure');
    else await instances.remove(id, 2);
    const started = driver.order.length;
    jest.advanceTimersByTime(60_000);
    await instances.remove(id, 3);
    expect(driver.order).toHaveLength(started);
  });

  it('take a panic for a failure where there is a policy, and else only tell of it', async () => {
    await ask('on', 1, 'on-failure');
    driver.guests.get(driver.newest)?.({ kind: 'panic', at: Date.now() });
    await until('ended', () => seen()?.state === 'crashed' && /started again/.test(seen()?.reason ?? ''));
    expect(seen()).toMatchObject({ exit: { reason: 'guest-panic' } });
    await pauseOver();
    await ask('off', 2);
    await ask('on', 3);
    const at = Date.now();
    driver.guests.get(driver.newest)?.({ kind: 'panic', at });
    await until('told', () => (seen() as { guest?: { panickedAt: string | null } }).guest?.panickedAt !== null);
    expect(seen()).toMatchObject({ state: 'running', guest: { panickedAt: new Date(at).toISOString() } });
  });

  it('see a guest that resets itself again and again within its machine', async () => {
    await ask('on', 1);
    const looping = (): boolean => (seen() as { guest?: { looping: boolean } }).guest?.looping === true;
    for (let n = 0; n < 3; n += 1) {
      expect(looping()).toBe(false);
      driver.guests.get(driver.newest)?.({ kind: 'reset', at: Date.now() });
      await until('noted', () => looping() || n < 2);
    }
    expect(seen()?.state).toBe('running');
    // A machine that is started anew has a guest that has done nothing yet.
    await ask('off', 2);
    await ask('on', 3);
    expect(looping()).toBe(false);
  });
});
