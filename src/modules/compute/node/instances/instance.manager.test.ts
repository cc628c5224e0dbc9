import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryOf } from '../drivers/common/suspended-memory';
import { crashed, poweredOff } from '../drivers/vmm-exit';
import { AgentsOfAHost } from './agents-of-a-host-suite';
import type { InstanceManager } from './instance.manager';
import { MapDriver } from './map-driver-suite';

describe('InstanceManager', () => {
  const host = new AgentsOfAHost();
  const { store, drives, problems } = host;
  const agent = (driver: MapDriver): InstanceManager => host.agent(driver);
  const never = new AbortController().signal;
  afterAll(() => host.remove());

  const args = (instanceId: string, power: 'on' | 'off' = 'on', generation = 1) => ({
    instanceId,
    generation,
    spec: {
      name: 'i',
      vcpus: 1,
      memoryBytes: 2 ** 28,
      disks: [{ volumeId: randomUUID(), pool: 'local', readonly: false }],
      ports: [],
      vmm: null,
    },
    power,
    graceSeconds: 1,
  });

  it('finishes a reboot that was cut between its two halves', async () => {
    const driver = new MapDriver();
    const instances = agent(driver);
    const id = randomUUID();
    await instances.ensure(args(id), never);
    driver.failStarts = 1;
    await expect(instances.reboot(id, false, 1, never)).rejects.toThrow('cut here');
    expect(driver.alive.size).toBe(0);
    expect(await instances.reboot(id, false, 1, never)).toMatchObject({ state: 'running' });
    expect(driver.alive.size).toBe(1);
  });

  it('keeps what a stop wanted when the machine it stopped reports its end afterwards', async () => {
    const instances = agent(new MapDriver());
    const id = randomUUID();
    await instances.ensure(args(id), never);
    expect(await instances.ensure(args(id, 'off', 2), never)).toMatchObject({
      generation: 2,
      state: 'stopped',
      reason: 'operator',
    });
    await new Promise((resolve) => setImmediate(resolve));
    await instances.ensure(args(id, 'off', 2), never);
    expect((await store.load()).records.find((r) => r.instanceId === id)).toMatchObject({
      generation: 2,
      power: 'off',
      handle: null,
      exit: { cause: 'operator' },
    });
  });

  it('gives a machine its config drive for as long as it runs, whichever agent is there', async () => {
    const driver = new MapDriver();
    const first = agent(driver);
    const id = randomUUID();
    const wanted = { ...args(id), spec: { ...args(id).spec, configDrive: 'openstack' as const } };
    driver.failStarts = 1;
    await expect(first.ensure(wanted, never)).rejects.toThrow('cut here');
    expect(drives.made.has(id)).toBe(false);
    await first.ensure(wanted, never);
    expect(drives.made.get(id)).toBe('openstack');
    expect(driver.disks.at(-1)).toEqual({ id: 'config-drive', path: `/drives/${id}`, format: 'raw', readonly: true });
    await first.stop();
    const next = agent(driver);
    await next.start();
    expect(drives.made.has(id)).toBe(true);
    await next.ensure({ ...wanted, power: 'off', generation: 2 }, never);
    expect(drives.made.has(id)).toBe(false);
    await next.ensure({ ...wanted, generation: 3 }, never);
    expect(drives.made.has(id)).toBe(true);
    driver.end([...driver.alive.keys()].at(-1) ?? '', crashed('killed', 'gone'));
    await next.ensure({ ...wanted, power: 'off', generation: 4 }, never);
    expect(drives.made.has(id)).toBe(false);
  });

  it('refuses to reboot what is wanted off', async () => {
    const instances = agent(new MapDriver());
    const id = randomUUID();
    await instances.ensure(args(id), never);
    await instances.ensure(args(id, 'off', 2), never);
    await expect(instances.reboot(id, false, 1, never)).rejects.toMatchObject({
      code: 'instance_not_running',
      permanent: true,
    });
  });

  it('learns of a guest that powered off while the agent was away, and keeps it off', async () => {
    const driver = new MapDriver();
    const id = randomUUID();
    const first = agent(driver);
    await first.ensure(args(id), never);
    await first.stop();
    driver.end([...driver.alive.keys()][0] ?? '', poweredOff(false));
    const next = agent(driver);
    await next.start();
    expect(next.list().find((i) => i.instanceId === id)).toMatchObject({ state: 'stopped', reason: 'guest' });
    expect((await store.load()).records.find((r) => r.instanceId === id)).toMatchObject({ power: 'off', handle: null });
  });

  it('refuses an older generation and changes nothing', async () => {
    const driver = new MapDriver();
    const instances = agent(driver);
    const id = randomUUID();
    await instances.ensure(args(id, 'on', 5), never);
    await expect(instances.ensure(args(id, 'off', 4), never)).rejects.toMatchObject({
      code: 'stale_generation',
      permanent: true,
    });
    await expect(instances.remove(id, 4)).rejects.toMatchObject({ code: 'stale_generation', permanent: true });
    expect(driver.alive.size).toBe(1);
    await instances.remove(id, 5);
    expect(driver.alive.size).toBe(0);
  });

  it('leaves no trace of a removed instance', async () => {
    const instances = agent(new MapDriver());
    const id = randomUUID();
    await instances.ensure(args(id), never);
    await instances.remove(id, 1);
    expect(instances.has(id)).toBe(false);
    expect((await store.load()).records.some((r) => r.instanceId === id)).toBe(false);
  });

  it('pauses and resumes, and tells it to whoever asks after a restart', async () => {
    const driver = new MapDriver();
    const first = agent(driver);
    const id = randomUUID();
    await first.ensure(args(id), never);
    expect(await first.setPaused(id, 1, true, never)).toMatchObject({ state: 'paused', generation: 1 });
    expect(await first.setPaused(id, 1, true, never)).toMatchObject({ state: 'paused' });
    await first.stop();
    const next = agent(driver);
    await next.start();
    expect(next.list().find((i) => i.instanceId === id)).toMatchObject({ state: 'paused', reason: '' });
    expect(await next.setPaused(id, 1, false, never)).toMatchObject({ state: 'running' });
    expect(driver.still.size).toBe(0);
  });

  it('tells guests that stood still the time, and lets none stand still for it', async () => {
    const driver = new MapDriver();
    const manager = agent(driver);
    const id = randomUUID();
    await manager.ensure(args(id), never);
    for (const [refusesTime, told] of [
      [false, 1],
      [true, 2],
    ] as const) {
      driver.refusesTime = refusesTime;
      await manager.setPaused(id, 1, true, never);
      expect(await manager.setPaused(id, 1, false, never)).toMatchObject({ state: 'running' });
      expect(driver.told).toBe(told);
    }
    await manager.setSuspended(id, 1, true, never);
    expect(await manager.setSuspended(id, 1, false, never)).toMatchObject({ state: 'running' });
    // Whoever asks again has lost the answer, and maybe what came after it.
    expect(await manager.setSuspended(id, 1, false, never)).toMatchObject({ state: 'running' });
    expect(driver.told).toBe(4);
  });

  it.each([
    ['paused', true],
    ['running', false],
  ])('finds one %s that an agent died over before it wrote it down', async (state, paused) => {
    const driver = new MapDriver();
    const first = agent(driver);
    const id = randomUUID();
    await first.ensure(args(id), never);
    await first.setPaused(id, 1, !paused, never);
    await first.stop();
    const [machine = ''] = driver.alive.keys();
    if (paused) driver.still.add(machine);
    else driver.still.delete(machine);
    const next = agent(driver);
    await next.start();
    expect(next.list().find((i) => i.instanceId === id)).toMatchObject({ state });
    expect((await store.load()).records.find((r) => r.instanceId === id)).toMatchObject({ paused });
  });

  it('stops one that is paused at once, for it cannot see its power button, and starts it running', async () => {
    const driver = new MapDriver();
    const instances = agent(driver);
    const id = randomUUID();
    await instances.ensure(args(id), never);
    await instances.setPaused(id, 1, true, never);
    expect(await instances.ensure(args(id, 'off', 2), never)).toMatchObject({ state: 'stopped', reason: 'forced' });
    expect(await instances.ensure(args(id, 'on', 3), never)).toMatchObject({ state: 'running' });
    expect(await instances.setPaused(id, 3, true, never)).toMatchObject({ state: 'paused' });
    expect(await instances.reboot(id, true, 0, never)).toMatchObject({ state: 'running' });
    expect([driver.resets, driver.still.size]).toEqual([1, 0]);
  });

  it('pauses and interrupts nothing that does not run, and lets go of what stands still no more', async () => {
    const driver = new MapDriver();
    const instances = agent(driver);
    const id = randomUUID();
    const refused = { code: 'instance_not_running', permanent: true };
    for (const unknown of [true, false])
      await expect(instances.setPaused(id, 1, unknown, never)).rejects.toMatchObject(refused);
    await instances.ensure(args(id, 'on', 2), never);
    await expect(instances.setPaused(id, 1, true, never)).rejects.toMatchObject({ code: 'stale_generation' });
    expect(await instances.nmi(id, never)).toMatchObject({ state: 'running' });
    expect(driver.interrupts).toBe(1);
    await instances.ensure(args(id, 'off', 3), never);
    await expect(instances.setPaused(id, 3, true, never)).rejects.toMatchObject(refused);
    await expect(instances.nmi(id, never)).rejects.toMatchObject(refused);
    expect(await instances.setPaused(id, 3, false, never)).toMatchObject({ state: 'stopped' });
  });

  describe('suspended', () => {
    const suspendedOne = async (driver = new MapDriver()) => {
      const instances = agent(driver);
      const id = randomUUID();
      await instances.ensure(args(id), never);
      expect(await instances.setSuspended(id, 1, true, never)).toMatchObject({ state: 'suspended', startedAt: null });
      return { driver, instances, id };
    };
    const seen = (instances: InstanceManager, id: string) => instances.list().find((i) => i.instanceId === id);
    const recorded = async (id: string) => (await store.load()).records.find((r) => r.instanceId === id);
    const memory = (id: string) => memoryOf({ logDir: store.directory(id), user: 0 });

    it('is so for every agent, goes on from what was kept, and keeps nothing then', async () => {
      const { driver, instances, id } = await suspendedOne();
      expect([driver.alive.size, await instances.setSuspended(id, 1, true, never)]).toMatchObject([
        0,
        { state: 'suspended' },
      ]);
      await instances.stop();
      const next = agent(driver);
      await next.start();
      expect(seen(next, id)).toMatchObject({ state: 'suspended', reason: '' });
      await expect(next.setPaused(id, 1, true, never)).rejects.toMatchObject({ code: 'instance_not_running' });
      await expect(next.reboot(id, true, 0, never)).rejects.toMatchObject({ code: 'instance_not_running' });
      expect(await next.setSuspended(id, 1, false, never)).toMatchObject({ state: 'running' });
      expect([driver.suspended, driver.alive.size, await memory(id).isComplete()]).toEqual([true, 1, false]);
      expect(await next.setSuspended(id, 1, false, never)).toMatchObject({ state: 'running' });
      expect(driver.alive.size).toBe(1);
    });

    it('is given up by a stop, and starts anew then', async () => {
      const { driver, instances, id } = await suspendedOne();
      expect(await instances.ensure(args(id, 'off', 2), never)).toMatchObject({ state: 'stopped' });
      expect(await memory(id).isComplete()).toBe(false);
      expect(await instances.ensure(args(id, 'on', 3), never)).toMatchObject({ state: 'running' });
      expect(driver.suspended).toBe(false);
    });

    it.each([
      ['runs on after a suspend that failed before all was kept', 'before', 'running'],
      ['is suspended after one that was cut when all was kept', 'after', 'suspended'],
    ] as const)('%s', async (_what, cutSuspend, state) => {
      const driver = new MapDriver();
      const instances = agent(driver);
      const id = randomUUID();
      await instances.ensure(args(id), never);
      driver.cutSuspend = cutSuspend;
      await expect(instances.setSuspended(id, 1, true, never)).rejects.toThrow('cut here');
      expect(seen(instances, id)).toMatchObject({ state });
      expect([driver.still.size, driver.alive.size]).toEqual([0, state === 'running' ? 1 : 0]);
    });

    it.each([
      ['runs on for the agent after one that died before all was kept', false, 'running'],
      ['is suspended for the agent after one that died when all was kept', true, 'suspended'],
    ] as const)('%s', async (_what, whole, state) => {
      const driver = new MapDriver();
      const first = agent(driver);
      const id = randomUUID();
      await first.ensure(args(id), never);
      await first.stop();
      const record = await recorded(id);
      if (!record) throw new Error('there is no record');
      await store.save({ ...record, suspending: true });
      driver.still.add([...driver.alive.keys()][0] ?? '');
      await memory(id).make();
      if (whole) await memory(id).complete();
      const next = agent(driver);
      await next.start();
      expect(seen(next, id)).toMatchObject({ state });
      expect([driver.still.size, driver.alive.size]).toEqual([0, whole ? 0 : 1]);
      expect(await recorded(id)).toMatchObject({ suspending: false });
    });

    it('is paused after a suspend that failed and could not be taken back, and its end is noticed', async () => {
      const driver = new MapDriver();
      const instances = agent(driver);
      const id = randomUUID();
      await instances.ensure(args(id), never);
      Object.assign(driver, { cutSuspend: 'before', stuck: true });
      await expect(instances.setSuspended(id, 1, true, never)).rejects.toThrow('does not go on');
      expect(seen(instances, id)).toMatchObject({ state: 'paused' });
      driver.stuck = false;
      expect(await instances.setPaused(id, 1, false, never)).toMatchObject({ state: 'running' });
      driver.end([...driver.alive.keys()][0] ?? '', crashed('killed', 'gone'));
      for (let i = 0; i < 200 && seen(instances, id)?.state !== 'crashed'; i += 1)
        await new Promise((resolve) => setImmediate(resolve));
      expect(seen(instances, id)).toMatchObject({ state: 'crashed' });
    });

    it('stays so after a start that failed before it ran, and is no more after one that ran', async () => {
      const { driver, instances, id } = await suspendedOne();
      driver.failStarts = 2;
      await expect(instances.setSuspended(id, 1, false, never)).rejects.toThrow('cut here');
      expect(seen(instances, id)).toMatchObject({ state: 'suspended' });
      driver.ranBeforeFailure = true;
      await expect(instances.setSuspended(id, 1, false, never)).rejects.toThrow('cut here');
      expect(seen(instances, id)).toMatchObject({
        state: 'crashed',
        reason: 'it ended while it went on from what its host had kept of it',
      });
      expect(await instances.ensure(args(id, 'on', 2), never)).toMatchObject({ state: 'running' });
      expect(driver.suspended).toBe(false);
    });

    it('is not brought back over disks that have changed since: by an agent after one that died while it went on', async () => {
      const { driver, instances, id } = await suspendedOne();
      await instances.stop();
      const record = await recorded(id);
      if (!record) throw new Error('there is no record');
      await store.save({ ...record, starting: true });
      await memory(id).use();
      const next = agent(driver);
      await next.start();
      expect(seen(next, id)).toMatchObject({ state: 'crashed' });
      expect(await recorded(id)).toMatchObject({ suspended: null, starting: false });
    });

    it('does not come back by itself when its host restarts', async () => {
      const { driver, instances, id } = await suspendedOne();
      await instances.stop();
      const record = await recorded(id);
      if (!record) throw new Error('there is no record');
      await store.save({ ...record, bootId: 'of before' });
      const next = agent(driver);
      await next.start();
      expect([seen(next, id), driver.alive.size]).toMatchObject([{ state: 'suspended' }, 0]);
    });
  });

  describe.each([
    ['that cannot be read', (text: string) => text.slice(0, -20), 'unreadable'],
    ['of a newer agent', (text: string) => text.replace('"version":1', '"version":2'), 'newer'],
    [
      'that lacks what this agent needs',
      (text: string) => text.replace('"power":"on"', '"power":"dimmed"'),
      'unreadable',
    ],
  ])('with a record %s', (_what, spoil, kind) => {
    it('leaves the machine alone, says so, and starts no second one; a removal ends it', async () => {
      const driver = new MapDriver();
      const id = randomUUID();
      const other = randomUUID();
      const first = agent(driver);
      await first.ensure(args(id), never);
      await first.ensure(args(other), never);
      await first.stop();
      const user = (await store.load()).records.find((r) => r.instanceId === id)?.user;
      const file = join(store.directory(id), 'instance.json');
      writeFileSync(file, spoil(readFileSync(file, 'utf8')));

      const next = agent(driver);
      await next.start();
      expect(driver.alive.size).toBe(2);
      expect(problems.list()).toEqual([{ file, kind, reason: expect.stringContaining('record of an instance') }]);
      expect(next.list().find((i) => i.instanceId === id)).toMatchObject({
        state: 'unknown',
        reason: 'its host cannot read its record of it',
      });
      expect(next.list().find((i) => i.instanceId === other)).toMatchObject({ state: 'running' });
      for (const refused of [
        next.ensure(args(id, 'on', 2), never),
        next.reboot(id, true, 0, never),
        next.setPaused(id, 9, true, never),
        next.nmi(id, never),
      ])
        await expect(refused).rejects.toMatchObject({ code: 'record_unreadable', permanent: true });
      expect([driver.alive.size, next.has(id), host.users.claim(user ?? 0, randomUUID())]).toEqual([2, true, false]);

      await next.remove(id, 1);
      expect([next.has(id), problems.list(), (await store.load()).lost]).toEqual([false, [], []]);
      expect(host.users.claim(user ?? 0, id)).toBe(true);
      await next.removeAll();
    });
  });
});
