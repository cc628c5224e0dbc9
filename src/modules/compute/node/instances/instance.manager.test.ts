import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { Config } from '../../../../core/config/config';
import { coreConfigSchema } from '../../../../core/config/core-config';
import { RecordProblems } from '../../../../core/host/records/record-problems';
import { StatePaths } from '../../../../core/config/state-paths';
import { Logging } from '../../../../core/telemetry/logging';
import type { ConfigDrives } from '../seeds/config-drive';
import { ConsoleHub } from '../consoles/console.hub';
import type { VmExit, VmHandle, VmmDriver } from '../drivers/vmm-driver';
import type { VmmDrivers } from '../drivers/vmm-drivers';
import { InstanceManager } from './instance.manager';
import { VmSpecs } from './vm-specs';
import { InstanceStore } from './instance-store';
import { InstanceUsers } from './instance-users';

/** A driver whose machines are entries of a map; `failStarts` starts fail before one succeeds. */
class MapDriver {
  readonly kind = 'simulated';
  readonly alive = new Map<string, (exit: VmExit) => void>();
  readonly ended = new Map<string, VmExit>();
  failStarts = 0;
  /** Of the last start. */
  disks: { id: string; path: string; readonly: boolean }[] = [];
  private started = 0;

  validate(): void {
    return undefined;
  }

  async start(spec: {
    instanceId: string;
    runDir: string;
    logDir: string;
    disks: { id: string; path: string; readonly: boolean }[];
  }): Promise<VmHandle> {
    this.disks = spec.disks;
    if (this.failStarts > 0) {
      this.failStarts -= 1;
      throw new Error('the agent was cut here');
    }
    this.started += 1;
    const startTime = String(this.started);
    this.alive.set(startTime, () => undefined);
    return {
      driver: this.kind,
      instanceId: spec.instanceId,
      process: { pid: 1, startTime },
      user: 0,
      runDir: spec.runDir,
      logDir: spec.logDir,
      startedAt: new Date().toISOString(),
    };
  }

  async state(handle: VmHandle): Promise<'running' | 'stopped'> {
    return this.alive.has(handle.process.startTime) ? 'running' : 'stopped';
  }

  async powerButton(handle: VmHandle): Promise<void> {
    this.end(handle.process.startTime, { cause: 'operator', detail: '' });
  }

  async kill(handle: VmHandle): Promise<void> {
    this.alive.delete(handle.process.startTime);
  }

  waitExit(handle: VmHandle): Promise<VmExit> {
    const known = this.ended.get(handle.process.startTime);
    if (known) return Promise.resolve(known);
    if (!this.alive.has(handle.process.startTime))
      return Promise.resolve({ cause: 'crashed', detail: 'unknown machine' });
    return new Promise((resolve) => this.alive.set(handle.process.startTime, resolve));
  }

  serialSocket(): string {
    return '';
  }

  end(startTime: string, exit: VmExit): void {
    const tell = this.alive.get(startTime);
    this.alive.delete(startTime);
    this.ended.set(startTime, exit);
    tell?.(exit);
  }
}

describe('InstanceManager', () => {
  const directory = mkdtempSync(join(tmpdir(), 'vcs-manager-'));
  const logging = new Logging(pino({ level: 'silent' }));
  const problems = new RecordProblems(logging);
  const store = new InstanceStore(new StatePaths(join(directory, 'state'), join(directory, 'run')), problems);
  let users: InstanceUsers;
  const never = new AbortController().signal;
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  /** Which instances have a config drive now. */
  const drives = {
    made: new Map<string, string>(),
    path: (id: string) => `/drives/${id}`,
    make: async (id: string, form: string) => void drives.made.set(id, form),
    remove: async (id: string) => void drives.made.delete(id),
  };
  const agent = (driver: MapDriver): InstanceManager => {
    const drivers = {
      best: async () => driver as unknown as VmmDriver,
      byKind: () => driver as unknown as VmmDriver,
    } as unknown as VmmDrivers;
    users = new InstanceUsers(new Config(coreConfigSchema.parse({}), {}));
    return new InstanceManager(
      store,
      users,
      drivers,
      new VmSpecs(
        store,
        { of: async () => ({ netns: null, nics: [] }) },
        { locate: async () => ({ path: '/disk', format: 'raw' as const, bytes: 1 }) },
        drives as unknown as ConfigDrives,
      ),
      drives as unknown as ConfigDrives,
      new ConsoleHub(logging),
      { changed: () => undefined },
      logging,
    );
  };
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
    driver.end([...driver.alive.keys()].at(-1) ?? '', { cause: 'crashed', detail: 'gone' });
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
    driver.end([...driver.alive.keys()][0] ?? '', { cause: 'guest', detail: '' });
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
      for (const refused of [next.ensure(args(id, 'on', 2), never), next.reboot(id, true, 0, never)])
        await expect(refused).rejects.toMatchObject({ code: 'record_unreadable', permanent: true });
      expect([driver.alive.size, next.has(id), users.claim(user ?? 0, randomUUID())]).toEqual([2, true, false]);

      await next.remove(id, 1);
      expect([next.has(id), problems.list(), (await store.load()).lost]).toEqual([false, [], []]);
      expect(users.claim(user ?? 0, id)).toBe(true);
      await next.removeAll();
    });
  });
});
