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
import { deviceHeld, type VmHandle, type VmState } from '../drivers/vmm-driver';
import type { VmmDrivers } from '../drivers/vmm-drivers';
import type { ConfigDrives } from '../seeds/config-drive';
import { newGuest } from './guest-life';
import { InstanceDevices } from './instance-devices';
import type { InstanceManager } from './instance.manager';
import type { InstanceRecord } from './instance-record';
import { InstanceRecords } from './instance-records';
import { InstanceStore } from './instance-store';
import { InstanceUsers } from './instance-users';
import type { HostShares } from '../shares/host-shares';
import { VmSpecs } from './vm-specs';

type Kind = 'cards' | 'disks';

/** A machine as its VMM knows it, with devices of one kind. */
class Machine {
  state: VmState = 'running';
  readonly held = new Set<string>();
  /** Its guest lets nothing go. */
  stubborn = false;
  /** Fails the next attach, before or after its effect. */
  cut: 'before' | 'after' | null = null;
  attached = 0;

  constructor(private readonly kind: Kind) {}

  private present(kind: Kind): string[] {
    return kind === this.kind ? [...this.held] : [];
  }

  private readonly attach = async (_handle: VmHandle, device: { id: string }): Promise<void> => {
    const { cut } = this;
    this.cut = null;
    if (cut === 'before') throw new Error('the agent was cut here');
    this.held.add(device.id);
    this.attached += 1;
    if (cut === 'after') throw new Error('the agent was cut here');
  };
  private readonly detach = async (_handle: VmHandle, id: string): Promise<void> => {
    if (this.stubborn) throw deviceHeld();
    this.held.delete(id);
  };

  readonly driver = {
    state: async () => this.state,
    nics: async () => this.present('cards'),
    attachNic: this.attach,
    detachNic: this.detach,
    disks: async () => this.present('disks'),
    attachDisk: this.attach,
    detachDisk: this.detach,
  };
}

describe.each(['cards', 'disks'] as const)('InstanceDevices, of %s', (kind) => {
  const directory = mkdtempSync(join(tmpdir(), 'vcs-cards-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const logging = new Logging(pino({ level: 'silent' }));
  const paths = new StatePaths(join(directory, 'state'), join(directory, 'run'));
  const store = new InstanceStore(paths, new RecordProblems(logging));
  const config = new Config(coreConfigSchema.parse({}), { compute: { detachSeconds: 1 } });
  const never = new AbortController().signal;

  const agent = async (machine: Machine): Promise<{ cards: InstanceDevices; records: InstanceRecords }> => {
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
      {
        locate: async () => ({ path: '/disk', format: 'raw' as const, bytes: 1 }),
        bootFiles: () => ({ kernel: '', initramfs: '' }),
        folders: async () => [],
        attach: async (_id, { volumeId }) => ({ path: `/attached/${volumeId}`, format: 'raw' as const, bytes: 1 }),
        keepOnly: async () => undefined,
        forget: async () => undefined,
      },
      {} as ConfigDrives,
      { of: async () => [] } as unknown as HostShares,
    );
    const drivers = { byKind: () => machine.driver } as unknown as VmmDrivers;
    return { cards: new InstanceDevices(manager, records, drivers, specs, config, logging), records };
  };
  const [a, b] = [randomUUID(), randomUUID()];
  const [root, card] = [randomUUID(), randomUUID()];
  const specOf = (devices: string[]): InstanceRecord['spec'] => ({
    name: 'i',
    vcpus: 1,
    memoryBytes: 2 ** 28,
    disks: [root, ...(kind === 'disks' ? devices : [])].map((volumeId) => ({
      volumeId,
      pool: 'default',
      readonly: false,
      ...(volumeId !== root && { detachable: true as const }),
    })),
    ports: kind === 'cards' ? devices : [card],
    vmm: null,
  });
  const bringBy = (by: InstanceDevices, args: Parameters<InstanceDevices['bringCards']>[0]) =>
    kind === 'cards' ? by.bringCards(args, never) : by.bringDisks(args, never);
  const prepare = async (machine: Machine, runs = true) => {
    const id = randomUUID();
    machine.held.add(a);
    const { cards, records } = await agent(machine);
    await records.save({
      instanceId: id,
      generation: 1,
      revision: 0,
      spec: specOf([a]),
      user: 1_900_000_100,
      cpus: null,
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
      lost: [],
      resizing: false,
      mayGiveLate: false,
      balloonBytes: null,
      ballooning: false,
      suspending: false,
      dumping: false,
      suspended: null,
      exit: null,
      exitAt: null,
      guest: newGuest,
      restarts: [],
      startedAt: null,
      bootId: 'b',
    });
    const bring = (devices: string[], generation = 2, by = cards) =>
      bringBy(by, { instanceId: id, generation, spec: specOf(devices) });
    const onDisk = async () => {
      const found = (await store.load()).records.find((record) => record.instanceId === id);
      if (!found) throw new Error('it is not on record');
      const { spec } = found;
      return { ...found, devices: kind === 'cards' ? spec.ports : spec.disks.slice(1).map((disk) => disk.volumeId) };
    };
    return { id, bring, cards, records, onDisk };
  };

  it('brings a machine to the cards that it shall have, twice over, and writes them down', async () => {
    const machine = new Machine(kind);
    const { bring, onDisk } = await prepare(machine);
    expect(await bring([a, b])).toMatchObject({ state: 'running', generation: 2 });
    await bring([a, b]);
    expect([[...machine.held], machine.attached]).toEqual([[a, b], 1]);
    await bring([b], 3);
    await bring([b], 3);
    expect([...machine.held]).toEqual([b]);
    expect(await onDisk()).toMatchObject({ generation: 3, devices: [b], leaving: [] });
    await expect(bring([a], 2)).rejects.toMatchObject({ code: 'stale_generation' });
    expect([...machine.held]).toEqual([b]);
  });

  it('ends where it should when an agent was cut just before or just after a card came', async () => {
    for (const cut of ['before', 'after'] as const) {
      const machine = new Machine(kind);
      const { bring, onDisk } = await prepare(machine);
      machine.cut = cut;
      await expect(bring([a, b])).rejects.toThrow('cut here');
      const { cards: next } = await agent(machine);
      await bring([a, b], 2, next);
      expect([[...machine.held], machine.attached]).toEqual([[a, b], 1]);
      expect((await onDisk()).devices).toEqual([a, b]);
      // Or it is taken back instead.
      await bring([a], 2, next);
      expect([...machine.held]).toEqual([a]);
    }
  });

  it('only writes down what one has that does not run, whose end nobody has seen yet, or that is not here', async () => {
    const off = new Machine(kind);
    const { bring, onDisk } = await prepare(off, false);
    expect(await bring([a, b])).toMatchObject({ state: 'stopped' });
    expect([off.attached, (await onDisk()).devices]).toEqual([0, [a, b]]);
    const ended = new Machine(kind);
    ended.state = 'stopped';
    const second = await prepare(ended);
    await second.bring([a, b]);
    expect([ended.attached, (await second.onDisk()).devices]).toEqual([0, [a, b]]);
    const nowhere = randomUUID();
    const { cards } = await agent(off);
    expect(await bringBy(cards, { instanceId: nowhere, generation: 1, spec: specOf([a]) })).toMatchObject({
      state: 'absent',
    });
    expect((await store.load()).records.some((record) => record.instanceId === nowhere)).toBe(false);
  });

  it('refuses one that is paused, and leaves it as it was', async () => {
    const machine = new Machine(kind);
    machine.state = 'paused';
    const { bring, onDisk } = await prepare(machine);
    await expect(bring([a, b])).rejects.toMatchObject({ code: 'instance_paused', permanent: true });
    expect([machine.attached, (await onDisk()).devices]).toEqual([0, [a]]);
  });

  it('keeps a card that its guest does not let go, and gives it back when it goes late, by whichever agent', async () => {
    const machine = new Machine(kind);
    const { bring, cards, onDisk } = await prepare(machine);
    await bring([a, b]);
    machine.stubborn = true;
    await expect(bring([a], 3)).rejects.toMatchObject({ code: 'device_held', permanent: true });
    expect(await onDisk()).toMatchObject({ devices: [a, b], leaving: [b] });
    await cards.settleLate();
    expect((await onDisk()).leaving).toEqual([b]);
    await bring([a, b], 3);
    machine.held.delete(b);
    const { cards: next } = await agent(machine);
    machine.cut = 'before';
    await next.settleLate();
    expect((await onDisk()).leaving).toEqual([b]);
    await next.settleLate();
    expect([...machine.held]).toEqual([a, b]);
    expect(await onDisk()).toMatchObject({ devices: [a, b], leaving: [] });
    machine.stubborn = false;
    await bring([a], 4);
    expect([...machine.held]).toEqual([a]);
  });
});
