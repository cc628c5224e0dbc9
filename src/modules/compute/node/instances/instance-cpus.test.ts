import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { poweredOff } from '../drivers/vmm-exit';
import { AgentsOfAHost } from './agents-of-a-host-suite';
import type { InstanceManager } from './instance.manager';
import type { InstanceRecord } from './instance-record';
import { MapDriver } from './map-driver-suite';

const never = new AbortController().signal;

describe('CPUs that an instance has for itself', () => {
  let host: AgentsOfAHost;
  let driver: MapDriver;
  let agent: InstanceManager;
  beforeEach(() => {
    host = new AgentsOfAHost();
    // CPU 0 is the host's.
    host.nodes = [
      {
        node: 0,
        memoryBytes: 2 ** 30,
        hugePagesBytes: 0,
        cores: [[0], [1], [2], [3]],
        dedicatedCpus: [1, 2, 3],
        distances: [],
      },
    ];
    driver = new MapDriver();
    agent = host.agent(driver);
  });
  afterEach(() => host.remove());

  const specOf = (own: number) => ({
    name: 'i',
    vcpus: Math.max(1, own),
    memoryBytes: 2 ** 28,
    disks: [{ volumeId: randomUUID(), pool: 'local', readonly: false }],
    ports: [],
    vmm: null,
    ...(own > 0 && {
      hardware: { cpuPolicy: 'dedicated' as const },
      dedicatedCpus: [{ node: 0, cpus: own, memoryBytes: 0 }],
    }),
  });
  let generation = 0;
  const bring = (id: string, own: number, power: 'on' | 'off' = 'on', by = agent) =>
    by.ensure({ instanceId: id, generation: (generation += 1), spec: specOf(own), power, graceSeconds: 0 }, never);
  const record = async (id: string): Promise<InstanceRecord | undefined> =>
    (await host.store.load()).records.find((one) => one.instanceId === id);
  const cpusOf = async (id: string): Promise<number[] | undefined> =>
    (await record(id))?.cpus?.flatMap(({ cpus }) => cpus);

  it('are on record and told, no two have the same, and an instance that shares is on the others', async () => {
    const [one, two, shared] = [randomUUID(), randomUUID(), randomUUID()];
    const answers = await Promise.all([bring(one, 1), bring(two, 2), bring(shared, 0)]);
    const given = [await cpusOf(one), await cpusOf(two)];
    expect(given.flat().sort()).toEqual([1, 2, 3]);
    expect(answers.map(({ dedicatedCpus }) => dedicatedCpus)).toEqual([given[0], given[1], null]);
    expect(driver.places.map(({ cpus }) => cpus)).toContainEqual({ own: null, process: [0] });
    expect(driver.places.filter(({ cpus }) => cpus.own !== null)).toHaveLength(2);
  });

  it('are written down before its machine starts', async () => {
    const id = randomUUID();
    let open: () => void = () => undefined;
    driver.gate = new Promise((resolve) => (open = resolve));
    const started = bring(id, 2);
    while (driver.startsNow === 0) await new Promise(setImmediate);
    expect(await record(id)).toMatchObject({ starting: true, cpus: [{ node: 0, cpus: [1, 2] }] });
    open();
    await started;
  });

  it('are refused where there are not so many, and nothing of it is left', async () => {
    await bring(randomUUID(), 2);
    const id = randomUUID();
    await expect(bring(id, 2)).rejects.toMatchObject({ code: 'no_dedicated_cpus', permanent: true });
    expect(await bring(randomUUID(), 1)).toMatchObject({ dedicatedCpus: [3] });
  });

  it('are free again when it stops, ends by itself, fails to start, or is removed', async () => {
    const id = randomUUID();
    await bring(id, 3);
    expect(await bring(id, 3, 'off')).toMatchObject({ dedicatedCpus: null });
    expect(await cpusOf(id)).toBeUndefined();
    driver.failStarts = 1;
    await expect(bring(id, 3)).rejects.toThrow('cut here');
    expect(await cpusOf(id)).toBeUndefined();
    await bring(id, 3);
    driver.end(driver.newest, poweredOff(false));
    while ((await record(id))?.handle) await new Promise(setImmediate);
    const other = randomUUID();
    expect(await bring(other, 3)).toMatchObject({ dedicatedCpus: [1, 2, 3] });
    await agent.remove(other, generation + 1);
    expect(await bring(id, 3)).toMatchObject({ dedicatedCpus: [1, 2, 3] });
  });

  it('stay its own while it is suspended, and it goes on with them', async () => {
    const [id, other] = [randomUUID(), randomUUID()];
    await bring(id, 2);
    await agent.setSuspended(id, generation, true, never);
    expect(await cpusOf(id)).toEqual([1, 2]);
    await expect(bring(other, 2)).rejects.toMatchObject({ code: 'no_dedicated_cpus' });
    const next = host.agent(driver);
    await next.start();
    expect(await next.setSuspended(id, generation, false, never)).toMatchObject({ dedicatedCpus: [1, 2] });
    expect(driver.places.at(-1)).toMatchObject({ when: 'start', cpus: { own: [1, 2] } });
    await next.setSuspended(id, generation, true, never);
    // Somebody set others aside meanwhile.
    host.nodes = host.nodes.map((node) => ({ ...node, dedicatedCpus: [2, 3] }));
    const last = host.agent(driver);
    await last.start();
    await expect(last.setSuspended(id, generation, false, never)).rejects.toMatchObject({ code: 'no_dedicated_cpus' });
  });

  it('are those of the record after the agent was killed, and what drifted is brought back', async () => {
    const [id, shared] = [randomUUID(), randomUUID()];
    await bring(id, 2);
    await bring(shared, 0);
    driver.places.length = 0;
    driver.drifted = true;
    const next = host.agent(driver);
    await next.start();
    expect(driver.drifted).toBe(false);
    expect(driver.places).toHaveLength(2);
    expect(driver.places).toContainEqual({ when: 'later', cpus: { own: [1, 2], process: [1, 2] } });
    expect(driver.places).toContainEqual({ when: 'later', cpus: { own: null, process: [0] } });
    await expect(bring(randomUUID(), 2, 'on', next)).rejects.toMatchObject({ code: 'no_dedicated_cpus' });
    expect(await bring(randomUUID(), 1, 'on', next)).toMatchObject({ dedicatedCpus: [3] });
  });

  it('are not given to others while the record of one that may run on them cannot be read', async () => {
    const id = randomUUID();
    await bring(id, 2);
    const file = join(host.store.directory(id), 'instance.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"starting":false', '"starting":"perhaps"'));
    const next = host.agent(driver);
    await next.start();
    expect(next.list()).toMatchObject([{ instanceId: id, state: 'unknown' }]);
    await expect(bring(randomUUID(), 2, 'on', next)).rejects.toMatchObject({ code: 'no_dedicated_cpus' });
    await next.remove(id, generation);
    expect(await bring(randomUUID(), 3, 'on', next)).toMatchObject({ dedicatedCpus: [1, 2, 3] });
  });

  it('are free after a start that was cut', async () => {
    const id = randomUUID();
    driver.gate = new Promise(() => undefined);
    bring(id, 3).catch(() => undefined);
    while (driver.startsNow === 0) await new Promise(setImmediate);
    expect(await cpusOf(id)).toEqual([1, 2, 3]);
    driver.gate = Promise.resolve();
    const next = host.agent(driver);
    await next.start();
    expect(await cpusOf(id)).toBeUndefined();
    expect(await bring(randomUUID(), 3, 'on', next)).toMatchObject({ dedicatedCpus: [1, 2, 3] });
  });

  it('are nobody’s where none is set aside: machines run wherever their host has them run', async () => {
    host.nodes = [];
    await bring(randomUUID(), 0);
    expect(driver.places).toEqual([]);
  });
});
