import { randomUUID } from 'node:crypto';
import { poweredOff } from '../drivers/vmm-exit';
import { AgentsOfAHost } from './agents-of-a-host-suite';
import type { InstanceManager } from './instance.manager';
import type { InstanceRecord } from './instance-record';
import { MapDriver } from './map-driver-suite';

const never = new AbortController().signal;
const GiB = 2 ** 30;

describe('the size of an instance that runs', () => {
  const host = new AgentsOfAHost();
  afterAll(() => host.remove());

  const specOf = (vcpus: number, memoryBytes: number) => ({
    name: 'i',
    vcpus,
    memoryBytes,
    max: { vcpus: 4, memoryBytes: 4 * GiB },
    disks: [{ volumeId: randomUUID(), pool: 'local', readonly: false }],
    ports: [],
    vmm: null,
  });
  const running = async (): Promise<{
    driver: MapDriver;
    agent: InstanceManager;
    id: string;
    resize: (
      vcpus: number,
      memoryBytes: number,
      how?: { back?: boolean; by?: InstanceManager; signal?: AbortSignal; generation?: number },
    ) => Promise<unknown>;
    record: () => Promise<InstanceRecord | undefined>;
  }> => {
    const driver = new MapDriver();
    const agent = host.agent(driver);
    const id = randomUUID();
    await agent.ensure({ instanceId: id, generation: 1, spec: specOf(2, GiB), power: 'on', graceSeconds: 1 }, never);
    return {
      driver,
      agent,
      id,
      resize: (vcpus, memoryBytes, { back = false, by = agent, signal = never, generation = 2 } = {}) =>
        by.resize({ instanceId: id, generation, spec: specOf(vcpus, memoryBytes), back }, signal),
      record: async () => (await host.store.load()).records.find((one) => one.instanceId === id),
    };
  };

  it('grows by memory first and vCPUs last, and is on record; asked again nothing more is done', async () => {
    const { driver, resize, record } = await running();
    expect(await resize(3, 2 * GiB)).toMatchObject({ state: 'running', generation: 2 });
    await resize(3, 2 * GiB);
    expect(driver.changes).toEqual([`memory ${2 * GiB}`, 'vcpus 3']);
    expect(await record()).toMatchObject({ generation: 2, resizing: false, spec: { vcpus: 3, memoryBytes: 2 * GiB } });
  });

  it('is written down before anything is done', async () => {
    const { driver, resize, record } = await running();
    const seen: unknown[] = [];
    driver.beforeChange = async () => void seen.push(await record());
    await resize(2, 2 * GiB);
    expect(seen).toEqual([expect.objectContaining({ resizing: true, generation: 2 })]);
  });

  it('gives vCPUs back before it gets memory', async () => {
    const { driver, resize } = await running();
    await resize(1, 2 * GiB);
    expect(driver.changes).toEqual(['vcpus 1', `memory ${2 * GiB}`]);
  });

  it('is what it was when its guest does not take or give a part, and what it gives late it gets again', async () => {
    const { driver, resize, record } = await running();
    driver.held.add('memory');
    await expect(resize(1, 2 * GiB)).rejects.toMatchObject({ code: 'resize_held' });
    expect(driver.changes).toEqual(['vcpus 1', `held memory ${2 * GiB}`, 'vcpus 2']);
    expect(driver.has).toEqual({ vcpus: 2, memoryBytes: GiB });
    expect(await record()).toMatchObject({ resizing: false, mayGiveLate: true, spec: { vcpus: 2, memoryBytes: GiB } });
    driver.has = { vcpus: 1, memoryBytes: GiB };
    await host.sizes?.settleLate();
    expect(driver.has.vcpus).toBe(2);
  });

  it('is refused before anything is touched: what its machine cannot, while it is paused, of an older generation', async () => {
    const { driver, agent, id, resize, record } = await running();
    const before = await record();
    await expect(resize(5, GiB)).rejects.toMatchObject({ code: 'resize_needs_stop', permanent: true });
    expect(await record()).toEqual(before);
    await agent.setPaused(id, 1, true, never);
    await expect(resize(3, GiB)).rejects.toMatchObject({ code: 'instance_paused', permanent: true });
    await expect(resize(3, GiB, { generation: 0 })).rejects.toMatchObject({ code: 'stale_generation' });
    expect(driver.changes).toEqual([]);
  });

  it('of one that does not run is on record for its next start, and of one that is not there nothing is done', async () => {
    const { driver, agent, id, resize, record } = await running();
    driver.end(driver.newest, poweredOff(false));
    expect(await resize(3, 2 * GiB)).toMatchObject({ generation: 2 });
    expect(await record()).toMatchObject({ spec: { vcpus: 3, memoryBytes: 2 * GiB } });
    await agent.ensure(
      { instanceId: id, generation: 3, spec: specOf(3, 2 * GiB), power: 'on', graceSeconds: 1 },
      never,
    );
    expect(driver.has).toEqual({ vcpus: 3, memoryBytes: 2 * GiB });
    await agent.remove(id, 9);
    expect(await resize(3, GiB)).toMatchObject({ state: 'absent' });
  });

  it('whose machine ends in the midst of it has the size from its next start', async () => {
    const { driver, resize, record } = await running();
    driver.beforeChange = () => {
      driver.end(driver.newest, poweredOff(false));
      throw new Error('nobody answers');
    };
    await resize(3, 2 * GiB);
    expect(await record()).toMatchObject({ resizing: false, spec: { vcpus: 3, memoryBytes: 2 * GiB } });
  });

  it('goes back, and keeps until its next start what its machine cannot give back', async () => {
    const { driver, resize, record } = await running();
    await resize(3, 2 * GiB);
    driver.checkResize = () => Promise.reject(new Error('is not asked'));
    await resize(2, GiB, { back: true, generation: 3 });
    expect(driver.has).toEqual({ vcpus: 2, memoryBytes: GiB });
    expect(await record()).toMatchObject({ generation: 3, spec: { vcpus: 2, memoryBytes: GiB } });
  });

  it('of which a removal cuts the change stays marked, and so does one whose agent died: the next one says what its VMM says', async () => {
    const { driver, agent, resize, record } = await running();
    const cut = new AbortController();
    driver.beforeChange = () => {
      if (driver.changes.length > 0) cut.abort();
    };
    await expect(resize(3, 2 * GiB, { signal: cut.signal })).rejects.toMatchObject({ code: 'interrupted' });
    expect(driver.has).toEqual({ vcpus: 2, memoryBytes: 2 * GiB });
    expect(await record()).toMatchObject({ resizing: true });
    await agent.stop();
    const next = host.agent(driver);
    await next.start();
    expect(await record()).toMatchObject({ resizing: false, spec: { vcpus: 2, memoryBytes: 2 * GiB } });
    driver.beforeChange = () => undefined;
    // Management repeats its call, one way or the other.
    await resize(3, 2 * GiB, { by: next });
    expect(driver.has).toEqual({ vcpus: 3, memoryBytes: 2 * GiB });
    await resize(2, GiB, { by: next, back: true });
    expect(driver.has).toEqual({ vcpus: 2, memoryBytes: GiB });
    await next.stop();
  });
});
