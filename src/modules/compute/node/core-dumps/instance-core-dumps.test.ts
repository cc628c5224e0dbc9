import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { crashed } from '../drivers/vmm-exit';
import { AgentsOfAHost } from '../instances/agents-of-a-host-suite';
import type { InstanceManager } from '../instances/instance.manager';
import { MapDriver } from '../instances/map-driver-suite';
import type { CoreDumpCalls } from './core-dump-calls';

const never = new AbortController().signal;
const MiB = 2 ** 20;

describe('core dumps of instances', () => {
  let host: AgentsOfAHost;
  let driver: MapDriver;
  let instances: InstanceManager;
  let id: string;
  const spec = { name: 'i', vcpus: 1, memoryBytes: 64 * MiB, disks: [], ports: [], vmm: null };
  const dumps = (): CoreDumpCalls => {
    if (!host.dumps) throw new Error('there is no agent');
    return host.dumps;
  };
  const folder = (): string => join(host.store.directory(id), 'core-dumps');
  const files = (): string[] => (existsSync(folder()) ? readdirSync(folder()) : []);
  const told: [number, string | undefined][] = [];
  const make = (dumpId: string, signal = never): ReturnType<CoreDumpCalls['make']> =>
    dumps().make(
      { instanceId: id, dumpId, format: 'elf' },
      { progress: (...args) => void told.push([args[0], args[1]]), signal },
    );
  const turnOn = (instanceId: string): Promise<unknown> =>
    instances.ensure({ instanceId, generation: 1, spec, power: 'on', graceSeconds: 0 }, never);
  const recorded = (): { dumping: boolean; paused: boolean } =>
    JSON.parse(readFileSync(join(host.store.directory(id), 'instance.json'), 'utf8')) as {
      dumping: boolean;
      paused: boolean;
    };

  beforeEach(async () => {
    host = new AgentsOfAHost();
    host.section = { coreDumps: { perInstance: 2, hostBytes: 2 ** 40, keepFreeBytes: 0 } };
    driver = new MapDriver();
    instances = host.agent(driver);
    id = randomUUID();
    told.length = 0;
    await turnOn(id);
  });
  afterEach(async () => {
    await instances.stop();
    host.remove();
  });

  it('makes a file of root alone, and has the machine go on with its guest told the time', async () => {
    const dumpId = randomUUID();
    driver.duringDump = () => {
      expect(recorded().dumping).toBe(true);
      expect(files()).toEqual([`${dumpId}.part`]);
    };
    const { dump, instance } = await make(dumpId);
    expect(dump).toMatchObject({ id: dumpId, format: 'elf', bytes: 6 });
    expect(instance.state).toBe('running');
    expect([driver.still.size, driver.told, recorded().dumping]).toEqual([0, 1, false]);
    expect(files()).toEqual([`${dumpId}.elf`]);
    expect(statSync(join(folder(), `${dumpId}.elf`)).mode & 0o777).toBe(0o600);
    expect(told).toEqual([[50, '0.0 GiB of 0.0 GiB']]);
    expect(await dumps().list(id)).toEqual([dump]);
    // A repeat finds it.
    expect((await make(dumpId)).dump).toEqual(dump);
    await dumps().remove(id, dumpId, never);
    await dumps().remove(id, dumpId, never);
    expect(await dumps().list(id)).toEqual([]);
  });

  it('leaves one paused that was paused, and refuses one that does not run', async () => {
    await instances.setPaused(id, 1, true, never);
    expect((await make(randomUUID())).instance.state).toBe('paused');
    expect(driver.still.size).toBe(1);
    await instances.ensure({ instanceId: id, generation: 1, spec, power: 'off', graceSeconds: 0 }, never);
    await expect(make(randomUUID())).rejects.toMatchObject({ code: 'instance_not_running', permanent: true });
    id = randomUUID();
    await expect(make(randomUUID())).rejects.toMatchObject({ code: 'instance_not_running' });
  });

  it.each([
    ['the VMM fails', new VerbFailure('core_dump_failed', 'no', true), 'core_dump_failed'],
    ['the disk is full', Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }), 'no_room_to_dump'],
    ['the file cannot be written', Object.assign(new Error('EIO'), { code: 'EIO' }), 'core_dump_failed'],
  ])('leaves nothing when %s, and the machine goes on', async (_what, error, code) => {
    driver.duringDump = () => Promise.reject(error);
    await expect(make(randomUUID())).rejects.toMatchObject({ code, permanent: true });
    expect([files(), driver.still.size, recorded().dumping]).toEqual([[], 0, false]);
    driver.duringDump = () => undefined;
    await make(randomUUID());
  });

  it('refuses before anything is touched: too many of it, too much on the host, no room', async () => {
    await make(randomUUID());
    await make(randomUUID());
    const before = files();
    await expect(make(randomUUID())).rejects.toMatchObject({ code: 'too_many_core_dumps', permanent: true });
    for (const [limits, code] of [
      [{ perInstance: 9, hostBytes: 256 * MiB }, 'core_dumps_full'],
      [{ perInstance: 9, hostBytes: Number.MAX_SAFE_INTEGER, keepFreeBytes: 2 ** 52 }, 'no_room_to_dump'],
    ] as const) {
      await instances.stop();
      host.section = { coreDumps: limits };
      instances = host.agent(driver);
      await instances.start();
      await expect(make(randomUUID())).rejects.toMatchObject({ code, permanent: true });
    }
    expect([files(), driver.still.size]).toEqual([before, 0]);
  });

  it('counts those that are made with all of their memory', async () => {
    await instances.stop();
    // Room for one of 64 MiB and what comes beside it, and not for two.
    host.section = { coreDumps: { hostBytes: 600 * MiB, keepFreeBytes: 0 } };
    instances = host.agent(driver);
    await instances.start();
    const [first, second] = [id, randomUUID()];
    await turnOn(second);
    let refused: unknown;
    driver.duringDump = async () => {
      driver.duringDump = () => undefined;
      id = second;
      refused = await make(randomUUID()).catch((error: unknown) => error);
      id = first;
    };
    await make(randomUUID());
    expect(refused).toMatchObject({ code: 'core_dumps_full' });
    id = second;
    await make(randomUUID());
  });

  it('is ended by its removal: nothing is left, and the machine goes on', async () => {
    const dumpId = randomUUID();
    const begun = Promise.withResolvers<void>();
    driver.duringDump = (signal) => {
      begun.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))));
    };
    const making = make(dumpId).catch((error: unknown) => error);
    await begun.promise;
    await dumps().remove(id, dumpId, never);
    expect(await making).toMatchObject({ code: 'interrupted', permanent: false });
    expect([files(), driver.still.size, recorded().dumping]).toEqual([[], 0, false]);
  });

  it('does not begin when its removal came while it waited', async () => {
    const gate = Promise.withResolvers<void>();
    const holding = instances.exclusive(id, never, () => gate.promise);
    const dumpId = randomUUID();
    const making = make(dumpId).catch((error: unknown) => error);
    const removing = dumps().remove(id, dumpId, never);
    gate.resolve();
    await Promise.all([holding, removing]);
    expect(await making).toMatchObject({ code: 'interrupted' });
    expect([files(), driver.settled]).toEqual([[], 0]);
  });

  it('gives way to the deletion of its instance, which does not wait for the machine to go on', async () => {
    const begun = Promise.withResolvers<void>();
    driver.duringDump = (signal) => {
      begun.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))));
    };
    const making = make(randomUUID()).catch((error: unknown) => error);
    await begun.promise;
    await instances.remove(id, 2);
    expect(await making).toMatchObject({ code: 'interrupted' });
    expect([driver.settled, driver.alive.size, existsSync(host.store.directory(id))]).toEqual([0, 0, false]);
  });

  it('leaves nothing when the machine ends meanwhile', async () => {
    driver.duringDump = () => {
      driver.end(driver.newest, crashed('killed', 'by somebody', { signal: 'SIGKILL' }));
      throw new VerbFailure('core_dump_failed', 'it ended', true);
    };
    await expect(make(randomUUID())).rejects.toMatchObject({ code: 'core_dump_failed' });
    await instances.exclusive(id, never, async () => undefined);
    expect(files()).toEqual([]);
    expect(instances.list().find(({ instanceId }) => instanceId === id)).toMatchObject({ state: 'crashed' });
  });

  it('is cleared up by the next agent when this one died: half a file goes, the machine goes on', async () => {
    const whole = randomUUID();
    await make(whole);
    // As an agent leaves it that is killed.
    driver.still.add(driver.newest);
    const path = join(host.store.directory(id), 'instance.json');
    writeFileSync(path, JSON.stringify({ ...recorded(), dumping: true }));
    mkdirSync(folder(), { recursive: true });
    writeFileSync(join(folder(), `${randomUUID()}.part`), 'half');
    const next = host.agent(driver);
    await next.start();
    await next.exclusive(id, never, async () => undefined);
    expect([files(), driver.still.size, recorded().dumping]).toEqual([[`${whole}.elf`], 0, false]);
    expect(next.list()).toMatchObject([{ state: 'running' }]);
    await next.stop();
  });

  it('opens what is whole and nothing else', async () => {
    const dumpId = randomUUID();
    await make(dumpId);
    expect(
      await dumps()
        .list(randomUUID())
        .catch((error: unknown) => error),
    ).toMatchObject({ code: 'instance_absent' });
    writeFileSync(join(folder(), `${randomUUID()}.part`), 'half');
    writeFileSync(join(folder(), 'notes.txt'), '');
    expect((await dumps().list(id)).map(({ id: one }) => one)).toEqual([dumpId]);
  });
});
