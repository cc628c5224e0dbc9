import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { Config } from '../../../../core/config/config';
import { coreConfigSchema } from '../../../../core/config/core-config';
import { StatePaths } from '../../../../core/config/state-paths';
import { KeyedMutex } from '../../../../core/host/keyed-mutex';
import { RecordProblems } from '../../../../core/host/records/record-problems';
import { Logging } from '../../../../core/telemetry/logging';
import { deviceHeld, type VmHandle, type VmNic, type VmState } from '../drivers/vmm-driver';
import type { VmmDrivers } from '../drivers/vmm-drivers';
import type { ConfigDrives } from '../seeds/config-drive';
import { newGuest } from './guest-life';
import { InstanceCards } from './instance-cards';
import type { InstanceManager } from './instance.manager';
import type { InstanceRecord } from './instance-record';
import { InstanceRecords } from './instance-records';
import { InstanceStore } from './instance-store';
import { InstanceUsers } from './instance-users';
import { VmSpecs } from './vm-specs';

/** A machine as its VMM knows it. */
class Machine {
  state: VmState = 'running';
  readonly cards = new Set<string>();
  /** Its guest lets nothing go. */
  stubborn = false;
  /** Fails the next attach, before or after its effect. */
  cut: 'before' | 'after' | null = null;
  attached = 0;

  readonly driver = {
    state: async () => this.state,
    nics: async () => [...this.cards],
    attachNic: async (_handle: VmHandle, nic: VmNic) => {
      const { cut } = this;
      this.cut = null;
      if (cut === 'before') throw new Error('the agent was cut here');
      this.cards.add(nic.id);
      this.attached += 1;
      if (cut === 'after') throw new Error('the agent was cut here');
    },
    detachNic: async (_handle: VmHandle, id: string) => {
      if (this.stubborn) throw deviceHeld();
      this.cards.delete(id);
    },
  };
}

describe('InstanceCards', () => {
  const directory = mkdtempSync(join(tmpdir(), 'vcs-cards-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const logging = new Logging(pino({ level: 'silent' }));
  const paths = new StatePaths(join(directory, 'state'), join(directory, 'run'));
  const store = new InstanceStore(paths, new RecordProblems(logging));
  const config = new Config(coreConfigSchema.parse({}), { compute: { detachSeconds: 1 } });
  const never = new AbortController().signal;

  const agent = async (machine: Machine): Promise<{ cards: InstanceCards; records: InstanceRecords }> => {
    const records = new InstanceRecords(store, new InstanceUsers(config));
    await records.load();
    const mutex = new KeyedMutex();
    const manager = {
      exclusive: <T>(id: string, signal: AbortSignal, work: (aborted: AbortSignal) => Promise<T>) =>
        mutex.run(id, () => work(signal)),
    } as unknown as InstanceManager;
    const specs = new VmSpecs(
      store,
      {
        of: async (_id, ports) => ({
          netns: null,
          nics: ports.map((portId) => ({ portId, tap: 't', mac: '52:54:00:00:00:01', mtu: 1500 })),
        }),
      },
      { locate: async () => ({ path: '/disk', format: 'raw' as const, bytes: 1 }) },
      {} as ConfigDrives,
    );
    const drivers = { byKind: () => machine.driver } as unknown as VmmDrivers;
    return { cards: new InstanceCards(manager, records, drivers, specs, config, logging), records };
  };
  const [a, b] = [randomUUID(), randomUUID()];
  const specOf = (ports: string[]): InstanceRecord['spec'] => ({
    name: 'i',
    vcpus: 1,
    memoryBytes: 2 ** 28,
    disks: [{ volumeId: randomUUID(), pool: 'default', readonly: false }],
    ports,
    vmm: null,
  });
  const prepare = async (machine: Machine, runs = true) => {
    const id = randomUUID();
    machine.cards.add(a);
    const { cards, records } = await agent(machine);
    await records.save({
      instanceId: id,
      generation: 1,
      revision: 0,
      spec: specOf([a]),
      user: 1_900_000_100,
      power: runs ? 'on' : 'off',
      starting: false,
      handle: runs
        ? {
            driver: 'simulated',
            instanceId: id,
            process: { pid: 1, startTime: '1' },
            user: 0,
            runDir: '/r',
            logDir: '/l',
            startedAt: new Date().toISOString(),
          }
        : null,
      paused: false,
      leaving: [],
      suspending: false,
      suspended: null,
      exit: null,
      exitAt: null,
      guest: newGuest,
      restarts: [],
      startedAt: null,
      bootId: 'b',
    });
    const bring = (ports: string[], generation = 2, by = cards) =>
      by.bring({ instanceId: id, generation, spec: specOf(ports) }, never);
    const onDisk = async () => (await store.load()).records.find((record) => record.instanceId === id);
    return { id, bring, cards, records, onDisk };
  };

  it('brings a machine to the cards that it shall have, twice over, and writes them down', async () => {
    const machine = new Machine();
    const { bring, onDisk } = await prepare(machine);
    expect(await bring([a, b])).toMatchObject({ state: 'running', generation: 2 });
    await bring([a, b]);
    expect([[...machine.cards], machine.attached]).toEqual([[a, b], 1]);
    await bring([b], 3);
    await bring([b], 3);
    expect([...machine.cards]).toEqual([b]);
    expect(await onDisk()).toMatchObject({ generation: 3, spec: { ports: [b] }, leaving: [] });
    await expect(bring([a], 2)).rejects.toMatchObject({ code: 'stale_generation' });
    expect([...machine.cards]).toEqual([b]);
  });

  it('ends where it should when an agent was cut just before or just after a card came', async () => {
    for (const cut of ['before', 'after'] as const) {
      const machine = new Machine();
      const { bring, onDisk } = await prepare(machine);
      machine.cut = cut;
      await expect(bring([a, b])).rejects.toThrow('cut here');
      const { cards: next } = await agent(machine);
      await bring([a, b], 2, next);
      expect([[...machine.cards], machine.attached]).toEqual([[a, b], 1]);
      expect((await onDisk())?.spec.ports).toEqual([a, b]);
      // Or it is taken back instead.
      await bring([a], 2, next);
      expect([...machine.cards]).toEqual([a]);
    }
  });

  it('only writes down what one has that does not run, whose end nobody has seen yet, or that is not here', async () => {
    const off = new Machine();
    const { bring, onDisk } = await prepare(off, false);
    expect(await bring([a, b])).toMatchObject({ state: 'stopped' });
    expect([off.attached, (await onDisk())?.spec.ports]).toEqual([0, [a, b]]);
    const ended = new Machine();
    ended.state = 'stopped';
    const second = await prepare(ended);
    await second.bring([a, b]);
    expect([ended.attached, (await second.onDisk())?.spec.ports]).toEqual([0, [a, b]]);
    const nowhere = randomUUID();
    const { cards } = await agent(off);
    expect(await cards.bring({ instanceId: nowhere, generation: 1, spec: specOf([a]) }, never)).toMatchObject({
      state: 'absent',
    });
    expect((await store.load()).records.some((record) => record.instanceId === nowhere)).toBe(false);
  });

  it('refuses one that is paused, and leaves it as it was', async () => {
    const machine = new Machine();
    machine.state = 'paused';
    const { bring, onDisk } = await prepare(machine);
    await expect(bring([a, b])).rejects.toMatchObject({ code: 'instance_paused', permanent: true });
    expect([machine.attached, (await onDisk())?.spec.ports]).toEqual([0, [a]]);
  });

  it('keeps a card that its guest does not let go, and gives it back when it goes late, by whichever agent', async () => {
    const machine = new Machine();
    const { bring, cards, onDisk } = await prepare(machine);
    await bring([a, b]);
    machine.stubborn = true;
    await expect(bring([a], 3)).rejects.toMatchObject({ code: 'device_held', permanent: true });
    expect(await onDisk()).toMatchObject({ spec: { ports: [a, b] }, leaving: [b] });
    await cards.settleLate();
    expect((await onDisk())?.leaving).toEqual([b]);
    await bring([a, b], 3);
    machine.cards.delete(b);
    const { cards: next } = await agent(machine);
    machine.cut = 'before';
    await next.settleLate();
    expect((await onDisk())?.leaving).toEqual([b]);
    await next.settleLate();
    expect([...machine.cards]).toEqual([a, b]);
    expect(await onDisk()).toMatchObject({ spec: { ports: [a, b] }, leaving: [] });
    machine.stubborn = false;
    await bring([a], 4);
    expect([...machine.cards]).toEqual([a]);
  });
});
