import { randomUUID } from 'node:crypto';
import { poweredOff } from '../drivers/vmm-exit';
import { AgentsOfAHost } from './agents-of-a-host-suite';
import type { InstanceManager } from './instance.manager';
import type { InstanceRecord } from './instance-record';
import { MapDriver } from './map-driver-suite';

const never = new AbortController().signal;
const GiB = 2 ** 30;

describe('the balloon of an instance that runs', () => {
  const host = new AgentsOfAHost();
  host.section = { resizeSeconds: 1 };
  afterAll(() => host.remove());

  const running = async (
    balloon = true,
  ): Promise<{
    driver: MapDriver;
    agent: InstanceManager;
    id: string;
    on: (by?: InstanceManager) => Promise<unknown>;
    keep: (bytes: number, how?: { by?: InstanceManager; signal?: AbortSignal }) => Promise<unknown>;
    record: () => Promise<InstanceRecord | undefined>;
  }> => {
    const driver = new MapDriver();
    const agent = host.agent(driver);
    const id = randomUUID();
    const spec = {
      name: 'i',
      vcpus: 2,
      memoryBytes: GiB,
      max: { vcpus: 4, memoryBytes: 4 * GiB },
      disks: [{ volumeId: randomUUID(), pool: 'local', readonly: false }],
      ports: [],
      vmm: null,
      ...(balloon && { machine: { balloon: true as const } }),
    };
    const on = (by = agent): Promise<unknown> =>
      by.ensure({ instanceId: id, generation: 1, spec, power: 'on', graceSeconds: 1 }, never);
    await on();
    return {
      driver,
      agent,
      id,
      on,
      keep: (bytes, { by = agent, signal = never } = {}) => by.balloon(id, bytes, signal),
      record: async () => (await host.store.load()).records.find((one) => one.instanceId === id),
    };
  };

  it('leaves its guest what it is told to, is on record, and gives all back', async () => {
    const { driver, id, keep, record } = await running();
    expect(await host.balloons?.look(id)).toEqual({ bytes: GiB, heldBytes: GiB, targetBytes: null, guest: null });
    expect(await keep(GiB / 2)).toMatchObject({ state: 'running' });
    expect(await record()).toMatchObject({ balloonBytes: GiB / 2, ballooning: false, spec: { memoryBytes: GiB } });
    expect(await host.balloons?.look(id)).toMatchObject({ heldBytes: GiB / 2, targetBytes: GiB / 2 });
    await keep(2 * GiB);
    expect(await record()).toMatchObject({ balloonBytes: null, ballooning: false });
    expect(driver.asked).toEqual([GiB / 2, GiB]);
  });

  it('is written down before anything is done', async () => {
    const { driver, keep, record } = await running();
    const seen: unknown[] = [];
    driver.beforeChange = async () => void seen.push(await record());
    await keep(GiB / 2);
    expect(seen).toEqual([expect.objectContaining({ ballooning: true, balloonBytes: null })]);
  });

  it('is asked for what was before when its guest does not give', async () => {
    const { driver, id, keep, record } = await running();
    await keep(GiB / 2);
    driver.gives = false;
    await expect(keep(GiB / 4)).rejects.toMatchObject({ code: 'balloon_held', permanent: true });
    expect(driver.asked).toEqual([GiB / 2, GiB / 4, GiB / 2]);
    expect(await record()).toMatchObject({ balloonBytes: GiB / 2, ballooning: false });
    expect(await host.balloons?.look(id)).toMatchObject({ heldBytes: GiB / 2, targetBytes: GiB / 2 });
  });

  it('is refused before anything is touched: without one, while it is paused, when it does not run', async () => {
    const without = await running(false);
    await expect(without.keep(GiB / 2)).rejects.toMatchObject({ code: 'no_balloon', permanent: true });
    await expect(host.balloons?.look(without.id)).rejects.toMatchObject({ code: 'no_balloon', permanent: true });
    const { driver, agent, id, keep, record } = await running();
    await agent.setPaused(id, 1, true, never);
    await expect(keep(GiB / 2)).rejects.toMatchObject({ code: 'instance_paused', permanent: true });
    await agent.setPaused(id, 1, false, never);
    await agent.remove(id, 9);
    await expect(keep(GiB / 2)).rejects.toMatchObject({ code: 'instance_not_running', permanent: true });
    expect([driver.asked, await record()]).toEqual([[], undefined]);
  });

  it('keeps a size from changing while it holds something', async () => {
    const { agent, id, keep, record } = await running();
    await keep(GiB / 2);
    const before = await record();
    if (!before) throw new Error('it is on record');
    const wanted = { instanceId: id, generation: 2, spec: { ...before.spec, memoryBytes: 2 * GiB }, back: false };
    await expect(agent.resize(wanted, never)).rejects.toMatchObject({ code: 'balloon_inflated', permanent: true });
    expect(await record()).toEqual(before);
    await keep(GiB);
    expect(await agent.resize(wanted, never)).toMatchObject({ state: 'running', generation: 2 });
  });

  it('ends with its machine, and outlives an agent and a suspension', async () => {
    const { driver, agent, id, on, keep, record } = await running();
    await keep(GiB / 2);
    await agent.stop();
    const next = host.agent(driver);
    await next.start();
    expect(await host.balloons?.look(id)).toMatchObject({ heldBytes: GiB / 2, targetBytes: GiB / 2 });
    await next.setSuspended(id, 1, true, never);
    await expect(host.balloons?.look(id)).rejects.toMatchObject({ code: 'instance_not_running' });
    await next.setSuspended(id, 1, false, never);
    expect(await record()).toMatchObject({ balloonBytes: GiB / 2 });
    await next.reboot(id, false, 1, never);
    expect(await record()).toMatchObject({ balloonBytes: null });
    expect(await host.balloons?.look(id)).toMatchObject({ heldBytes: GiB, targetBytes: null });
    await keep(GiB / 2, { by: next });
    driver.end(driver.newest, poweredOff(false));
    await on(next);
    expect(await record()).toMatchObject({ balloonBytes: null });
    await next.stop();
  });

  it('whose machine ends in the midst of it says so', async () => {
    const { driver, keep } = await running();
    driver.beforeChange = () => {
      driver.end(driver.newest, poweredOff(false));
      throw new Error('nobody answers');
    };
    await expect(keep(GiB / 2)).rejects.toMatchObject({ code: 'instance_not_running', permanent: true });
  });

  it('of which a removal or the end of an agent cuts the change is marked, and the next agent asks for what was before', async () => {
    const { driver, agent, keep, record } = await running();
    driver.gives = false;
    const cut = new AbortController();
    driver.beforeChange = () => void setTimeout(() => cut.abort(), 100);
    await expect(keep(GiB / 2, { signal: cut.signal })).rejects.toMatchObject({ code: 'interrupted' });
    expect(await record()).toMatchObject({ ballooning: true, balloonBytes: null });
    await agent.stop();
    const next = host.agent(driver);
    await next.start();
    expect(driver.asked).toEqual([GiB / 2, GiB]);
    expect(await record()).toMatchObject({ ballooning: false, balloonBytes: null });
    // Management repeats its call.
    driver.gives = true;
    await keep(GiB / 2, { by: next });
    expect(await record()).toMatchObject({ ballooning: false, balloonBytes: GiB / 2 });
    await next.stop();
  });
});
