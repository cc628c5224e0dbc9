import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { isRunning, processStartTime } from '../../../src/core/host/processes/process-identity';
import { Logging } from '../../../src/core/telemetry/logging';
import { AgentsOfAHost } from '../../../src/modules/compute/node/instances/agents-of-a-host-suite';
import type { InstanceManager } from '../../../src/modules/compute/node/instances/instance.manager';
import { MapDriver } from '../../../src/modules/compute/node/instances/map-driver-suite';
import type { Leftover } from '../../../src/modules/host/contract/leftover';
import { HostLeftovers } from '../../../src/modules/host/node/leftovers/host-leftovers';

const signal = new AbortController().signal;
const mounted = readFileSync('/proc/self/mounts', 'utf8');
const cgroups = mounted
  .split('\n')
  .find((line) => line.split(' ')[2] === 'cgroup2')
  ?.split(' ')[1];

let host: AgentsOfAHost;
let driver: MapDriver;
let instances: InstanceManager;
let leftovers: HostLeftovers;
const processes: ChildProcess[] = [];

const agent = async (): Promise<void> => {
  instances = host.agent(driver);
  if (!host.leftovers) throw new Error('an agent has none');
  leftovers = new HostLeftovers(new Logging(pino({ level: 'silent' })), [host.leftovers]);
  await instances.start();
};
const ensure = (id: string, power: 'on' | 'off' = 'on', generation = 1): Promise<unknown> =>
  instances.ensure(
    {
      instanceId: id,
      generation,
      spec: { name: 'i', vcpus: 1, memoryBytes: 1024 ** 2, disks: [], ports: [], vmm: null },
      power,
      graceSeconds: 0,
    },
    signal,
  );
const list = async (): Promise<Leftover[]> => (await leftovers.list()).leftovers;
const kinds = async (): Promise<string[]> => (await list()).map(({ kind, name }) => `${kind} ${name}`);
const confirm = ({ kind, name, mark }: Leftover): { kind: string; name: string; mark: string } => ({
  kind,
  name,
  mark,
});

/** A process that names something in the run folder of an instance, as a VMM does. */
const stray = async (id: string): Promise<number> => {
  mkdirSync(host.store.runDirectory(id), { recursive: true });
  const log = join(host.store.runDirectory(id), 'log');
  writeFileSync(log, '');
  const child = spawn('tail', ['-f', log], { stdio: 'ignore' });
  processes.push(child);
  const { pid } = child;
  if (pid === undefined) throw new Error('it did not start');
  await once(child, 'spawn');
  return pid;
};

beforeEach(async () => {
  host = new AgentsOfAHost();
  driver = new MapDriver();
  await agent();
});
afterEach(async () => {
  await instances.stop();
  for (const child of processes.splice(0)) child.kill('SIGKILL');
  host.remove();
});

describe('what is left of instances', () => {
  it('is listed with what it holds, and gone when told; what is on record is neither', async () => {
    const known = randomUUID();
    await ensure(known);
    const id = randomUUID();
    mkdirSync(join(host.store.directory(id), 'suspended'), { recursive: true });
    writeFileSync(join(host.store.directory(id), 'seed.json'), '{}');
    writeFileSync(join(host.store.directory(id), 'config-drive.iso'), 'x'.repeat(10_000));
    writeFileSync(join(host.store.directory(id), 'suspended', 'memory'), 'x'.repeat(100_000));
    mkdirSync(join(host.store.runDirectory(id), 's'), { recursive: true });
    mkdirSync(join(host.store.directory('not-ours')), { recursive: true });
    const found = await list();
    expect(found).toMatchObject([
      { kind: 'run-folder', name: id, owner: 'instance', ownerId: id, holds: ['sockets'] },
      {
        kind: 'instance-folder',
        name: id,
        owner: 'instance',
        ownerId: id,
        holds: ['config drive', 'kept memory', 'seed'],
      },
    ]);
    expect(found[1]?.bytes).toBeGreaterThanOrEqual(110_000);
    expect(Date.parse(found[1]?.since ?? '')).toBeGreaterThan(Date.now() - 60_000);
    expect(await leftovers.remove(found.map(confirm))).toEqual({ removed: 2 });
    expect(existsSync(host.store.directory(id)) || existsSync(host.store.runDirectory(id))).toBe(false);
    expect(await list()).toEqual([]);
    // Told twice: it is gone.
    expect(await leftovers.remove(found.map(confirm))).toEqual({ removed: 0 });
    expect(existsSync(host.store.directory(known)) && existsSync(host.store.directory('not-ours'))).toBe(true);
  });

  it('is not removed when something else lies there by now, nor anything beside it', async () => {
    const [id, other] = [randomUUID(), randomUUID()];
    for (const one of [id, other]) mkdirSync(host.store.directory(one), { recursive: true });
    const found = await list();
    writeFileSync(join(host.store.directory(id), 'seed.json'), '{}');
    await expect(leftovers.remove(found.map(confirm))).rejects.toMatchObject({
      code: 'leftover_changed',
      permanent: true,
    });
    expect([id, other].map((one) => existsSync(host.store.directory(one)))).toEqual([true, true]);
  });

  it('is a process only while it is that very one: a recycled pid is not signalled', async () => {
    const id = randomUUID();
    const pid = await stray(id);
    const startTime = processStartTime(pid) ?? '';
    const [found, folder] = await list();
    expect(found).toMatchObject({
      kind: 'vmm-process',
      name: `${id}/${pid}`,
      mark: `${pid}:${startTime}`,
      ownerId: id,
      holds: ['tail'],
    });
    const before = { kind: 'vmm-process', name: `${id}/${pid}`, mark: `${pid}:1` };
    await expect(leftovers.remove([before])).rejects.toMatchObject({ code: 'leftover_changed' });
    expect(isRunning({ pid, startTime })).toBe(true);
    // What it works in stays as long as it does.
    if (!folder) throw new Error('its folder is not listed');
    await expect(leftovers.remove([confirm(folder)])).rejects.toMatchObject({ code: 'leftover_in_use' });
    expect(existsSync(host.store.runDirectory(id))).toBe(true);
    expect(await leftovers.remove((await list()).map(confirm))).toEqual({ removed: 2 });
    expect(isRunning({ pid, startTime })).toBe(false);
    expect(await list()).toEqual([]);
  });

  it('is a process of an instance on record whose machine has ended, and none of one that runs', async () => {
    const [running, off] = [randomUUID(), randomUUID()];
    await ensure(running);
    await ensure(off, 'off');
    await stray(running);
    const pid = await stray(off);
    const found = await list();
    // Its agent alone says that it is too much: there is a row of the instance.
    expect(found).toMatchObject([{ kind: 'vmm-process', name: `${off}/${pid}`, ownerId: null }]);
    await ensure(off, 'on', 2);
    expect(await list()).toEqual([]);
    expect(await leftovers.remove(found.map(confirm))).toEqual({ removed: 0 });
    expect(processStartTime(pid)).not.toBeNull();
  });

  it('is memory that was kept and that nothing goes on from', async () => {
    const id = randomUUID();
    await ensure(id, 'off');
    const memory = join(host.store.directory(id), 'suspended');
    mkdirSync(memory, { recursive: true });
    writeFileSync(join(memory, 'complete'), '');
    const found = await list();
    expect(found).toMatchObject([{ kind: 'kept-memory', name: id, ownerId: null }]);
    await leftovers.remove(found.map(confirm));
    expect(existsSync(join(memory, 'complete'))).toBe(false);
    await ensure(id, 'on', 2);
    await instances.setSuspended(id, 2, true, signal);
    expect(existsSync(join(memory, 'complete'))).toBe(true);
    expect(await list()).toEqual([]);
  });

  (cgroups === undefined || process.getuid?.() !== 0 ? it.skip : it)(
    'is an empty cgroup of ours, and none of another agent',
    async () => {
      const [ours, others] = [randomUUID(), randomUUID()];
      mkdirSync(host.store.directory(ours), { recursive: true });
      const group = (id: string): string => join(cgroups ?? '', 'vc-stack', `instance-${id}`);
      for (const id of [ours, others]) mkdirSync(group(id), { recursive: true });
      try {
        expect(await kinds()).toEqual([`cgroup ${ours}`, `instance-folder ${ours}`]);
        await leftovers.remove((await list()).map(confirm));
        expect([existsSync(group(ours)), existsSync(group(others))]).toEqual([false, true]);
      } finally {
        for (const id of [ours, others]) if (existsSync(group(id))) rmdirSync(group(id));
      }
    },
  );

  it('is nothing that a start leaves which was cut, once its instance is deleted', async () => {
    const id = randomUUID();
    await ensure(id, 'off');
    await instances.stop();
    const file = join(host.store.directory(id), 'instance.json');
    const record = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...record, power: 'on', starting: true }));
    const group = cgroups === undefined || process.getuid?.() !== 0 ? '' : join(cgroups, 'vc-stack', `instance-${id}`);
    if (group !== '') mkdirSync(group, { recursive: true });
    const pid = await stray(id);
    await agent();
    expect(processStartTime(pid)).toBeNull();
    expect(await list()).toEqual([]);
    await instances.remove(id, 1);
    expect(await list()).toEqual([]);
    expect(group !== '' && existsSync(group)).toBe(false);
    expect(existsSync(host.store.runDirectory(id)) || existsSync(host.store.directory(id))).toBe(false);
  });

  it('never names what has a row before the look or after it, however often instances come and go meanwhile', async () => {
    const rows = new Set<string>();
    let over = false;
    const life = async (): Promise<void> => {
      for (let n = 0; n < 60; n += 1) {
        const id = randomUUID();
        rows.add(id);
        await ensure(id);
        if (n % 2 === 0) await ensure(id, 'off', 2);
        await instances.remove(id, 3);
        rows.delete(id);
      }
    };
    const wrong: Leftover[] = [];
    let looks = 0;
    const look = async (): Promise<void> => {
      while (!over) {
        const known = new Set(rows);
        const found = await list();
        looks += 1;
        wrong.push(...found.filter(({ ownerId }) => ownerId === null || !(known.has(ownerId) || rows.has(ownerId))));
      }
    };
    const looking = look();
    await Promise.all([life(), life(), life()]).finally(() => {
      over = true;
    });
    await looking;
    expect(wrong).toEqual([]);
    expect(looks).toBeGreaterThan(3);
    expect(await list()).toEqual([]);
  });
});
