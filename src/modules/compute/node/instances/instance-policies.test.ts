import { randomUUID } from 'node:crypto';
import type { GuestEvent } from '../drivers/guest-event';
import { watchdogExit } from '../drivers/vmm-exit';
import { AgentsOfAHost } from './agents-of-a-host-suite';
import type { InstanceManager } from './instance.manager';
import { MapDriver } from './map-driver-suite';

type Spec = Parameters<InstanceManager['ensure']>[0]['spec'];

describe('what was asked for a guest that panics, and for a watchdog that fires', () => {
  let host: AgentsOfAHost;
  const hosts: AgentsOfAHost[] = [];
  const never = new AbortController().signal;
  let driver: MapDriver;
  let instances: InstanceManager;
  let id: string;
  beforeEach(() => {
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

  const start = (more: Partial<Spec>, generation = 1): Promise<unknown> =>
    instances.ensure(
      {
        instanceId: id,
        generation,
        spec: { name: 'i', vcpus: 1, memoryBytes: 2 ** 28, disks: [], ports: [], vmm: null, ...more },
        power: 'on',
        graceSeconds: 1,
      },
      never,
    );
  const seen = () => instances.list().find((i) => i.instanceId === id);
  /** What is told is on record once the next call of the instance is at its turn. */
  const settled = (): Promise<unknown> => instances.nmi(id, never).catch(() => undefined);
  const tell = async (event: Omit<GuestEvent, 'at'> & { at?: number }): Promise<void> => {
    driver.guests.get(driver.newest)?.({ at: Date.now(), ...event });
    await settled();
  };
  const until = async (what: string, is: () => boolean): Promise<void> => {
    for (const end = Date.now() + 20_000; !is(); ) {
      if (Date.now() > end) throw new Error(`never: ${what} (${JSON.stringify(seen())})`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const runsAgain = async (): Promise<void> => {
    await until('running again', () => {
      jest.advanceTimersByTime(60_000);
      return seen()?.state === 'running';
    });
    await settled();
  };
  const nextAgent = async (): Promise<void> => {
    await instances.stop();
    instances = host.agent(driver);
    await instances.start();
    await settled();
  };

  it('restarts a guest that panicked, also without a restart policy, within the budget', async () => {
    await start({ machine: { panic: 'restart' } });
    for (const which of ['1 of 2', '2 of 2']) {
      await tell({ kind: 'panic' });
      expect(seen()).toMatchObject({
        state: 'crashed',
        reason: `its guest panicked; it is started again (${which})`,
        exit: { reason: 'guest-panic' },
      });
      await runsAgain();
    }
    await tell({ kind: 'panic' });
    expect(seen()?.reason).toMatch(/^its guest panicked; it was started again 2 times .*, and is not any more$/);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each(['panic', 'watchdog'] as const)('only tells of it where that was asked for: %s', async (kind) => {
    await start({ restartPolicy: 'on-failure', machine: { [kind]: 'notify' } });
    const at = Date.now();
    await tell({ kind, at });
    expect(seen()).toMatchObject({
      state: 'running',
      guest: { [kind === 'panic' ? 'panickedAt' : 'watchdogAt']: new Date(at).toISOString() },
    });
  });

  it('stops a guest that panicked, whatever its restart policy, and lets it off', async () => {
    await start({ restartPolicy: 'on-failure', machine: { panic: 'stop' } });
    await tell({ kind: 'panic' });
    expect(seen()).toMatchObject({
      state: 'crashed',
      reason: 'its guest panicked',
      exit: { reason: 'guest-panic' },
    });
    expect(jest.getTimerCount()).toBe(0);
    await nextAgent();
    expect(driver.order).toHaveLength(1);
    expect((await host.store.load()).records.find((record) => record.instanceId === id)?.power).toBe('off');
  });

  it('leaves a machine to its VMM that has stopped it', async () => {
    await start({ restartPolicy: 'on-failure', machine: { watchdog: 'stop' } });
    const at = Date.now();
    await tell({ kind: 'watchdog', stopped: true, at });
    expect(seen()?.state).toBe('running');
    driver.end(driver.newest, watchdogExit);
    await until('ended', () => seen()?.state === 'crashed');
    expect(seen()).toMatchObject({
      state: 'crashed',
      reason: 'its watchdog fired',
      exit: { reason: 'watchdog' },
      guest: { watchdogAt: new Date(at).toISOString() },
    });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('counts the restarts of a watchdog inside of the machine, and ends it when they are too many', async () => {
    await start({ machine: { watchdog: 'restart' } });
    for (const at of [1, 2]) {
      await tell({ kind: 'watchdog', at: Date.now() + at });
      expect(seen()?.state).toBe('running');
    }
    await nextAgent();
    await tell({ kind: 'watchdog', at: Date.now() + 3 });
    expect(seen()).toMatchObject({ state: 'crashed', exit: { reason: 'watchdog' } });
    expect(seen()?.reason).toMatch(/^its watchdog fired; it was started again 2 times .*, and is not any more$/);
    // Whoever starts it begins anew.
    await start({ machine: { watchdog: 'restart' } }, 2);
    await tell({ kind: 'watchdog', at: Date.now() + 4 });
    expect(seen()?.state).toBe('running');
  });

  it('takes what was written down for new only once', async () => {
    await start({ machine: { watchdog: 'restart' } });
    const at = Date.now();
    for (let agent = 0; agent < 4; agent += 1) {
      await tell({ kind: 'watchdog', written: true, at });
      expect(seen()).toMatchObject({ state: 'running', guest: { watchdogAt: new Date(at).toISOString() } });
      await nextAgent();
    }
  });

  it('leaves alone what has panicked and then restarted itself while no agent was there', async () => {
    await start({ machine: { panic: 'restart' } });
    const at = Date.now();
    await tell({ kind: 'panic', written: true, over: true, at });
    await tell({ kind: 'reset', written: true, at: at + 1 });
    expect(seen()).toMatchObject({ state: 'running', guest: { panickedAt: new Date(at).toISOString() } });
  });
});
