import { mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { changeUnit, startUnit, systemdRuns, type UnitLimits, unitOf, unitSlice } from './instance-unit';

/** What an instance may take. Memory in bytes of guest RAM; the VMM's own need is added here. */
export interface CgroupLimits {
  memoryBytes: number;
  /** Of guest RAM that consists of huge pages: counted only where the kernel was told to. Default 0. */
  hugePageBytes?: number;
  vcpus: number;
  /** Largest number of threads and processes. Default 512 and 8 per vCPU. */
  pids?: number;
}

interface CgroupPlacement {
  enforced: boolean;
  /** Why limits are not enforced, or not by a unit where systemd runs; empty when all is as it should be. */
  reason: string;
}

/** Moves a process into the group that was made for it. */
export type PlaceInCgroup = (pid: number) => Promise<CgroupPlacement>;

const controllers = ['cpu', 'memory', 'pids'] as const;
const parent = 'vc-stack';
/** Device models, page cache of the VMM's files and, under software emulation, translated code. */
const vmmOverheadBytes = 256 * 1024 * 1024;
const cpuPeriodMicroseconds = 100_000;
/** Of each vCPU, when the host's processors or disks are short: as systemd and the kernel count, 100 is usual. */
const weightPerCpu = 100;
const largestWeight = 10_000;

/** Where version 2 is mounted, and how. */
const mounted = async (): Promise<{ root: string; options: string[] } | null> => {
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const [, root, , options = ''] =
    mounts
      .split('\n')
      .find((l) => l.split(' ')[2] === 'cgroup2')
      ?.split(' ') ?? [];
  return root === undefined ? null : { root, options: options.split(',') };
};
const unifiedRoot = async (): Promise<string | null> => (await mounted())?.root ?? null;

/** Bytes that the kernel counts as the group's memory: of huge pages only since Linux 6.6, and where it was told to. */
const countedMemory = async ({ memoryBytes, hugePageBytes = 0 }: CgroupLimits): Promise<number> => {
  const counted = hugePageBytes > 0 && (await mounted())?.options.includes('memory_hugetlb_accounting') === true;
  return memoryBytes + (counted ? hugePageBytes : 0) + vmmOverheadBytes;
};

const checked = (instanceId: string): string => {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(instanceId)) throw new Error(`"${instanceId.slice(0, 64)}" cannot name a cgroup`);
  return instanceId;
};

/** Where systemd does not keep the machine's groups. */
const directoryOf = (root: string, instanceId: string): string => join(root, parent, `instance-${checked(instanceId)}`);

const unitDirectoryOf = (root: string, instanceId: string): string =>
  join(root, unitSlice, unitOf(checked(instanceId)));

/** One that a build without units has made may be there where systemd runs. */
const directoriesOf = (root: string, instanceId: string): string[] => [
  unitDirectoryOf(root, instanceId),
  directoryOf(root, instanceId),
];

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Makes a cgroup v2 for a VMM, with limits on memory, CPU time and threads, and a share of processors and disks by its
 * vCPUs: its process may be placed there as soon as there is one. Where systemd runs it is that of a transient unit. A
 * host that cannot enforce them (no cgroup v2, or its controllers are bound to v1) is not an error: the placement says
 * why, and the caller reports it. Undone by `removeCgroup`.
 */
export const makeCgroup = async (instanceId: string, limits: CgroupLimits): Promise<PlaceInCgroup> => {
  const unenforced =
    (reason: string): PlaceInCgroup =>
    () =>
      Promise.resolve({ enforced: false, reason });
  const root = await unifiedRoot();
  if (!root) return unenforced('cgroup v2 is not mounted');
  const present = (await readFile(join(root, 'cgroup.controllers'), 'utf8').catch(() => '')).trim().split(/\s+/);
  const absent = controllers.filter((c) => !present.includes(c));
  if (absent.length > 0) return unenforced(`cgroup v2 has no ${absent.join(', ')} controller`);
  const enabled = [...controllers, ...(present.includes('io') ? ['io'] : [])];
  if (!systemdRuns()) return makeGroup(root, instanceId, limits, enabled);
  return async (pid) => {
    const inUnit = await placeInUnit(root, instanceId, pid, limits);
    if (inUnit.enforced) return inUnit;
    // It is not to end with its agent's service.
    const alone = await (await makeGroup(root, instanceId, limits, enabled))(pid);
    return { ...alone, reason: inUnit.reason };
  };
};

const makeGroup = async (
  root: string,
  instanceId: string,
  limits: CgroupLimits,
  enabled: readonly string[],
): Promise<PlaceInCgroup> => {
  const directory = directoryOf(root, instanceId);
  const failed = async (error: unknown): Promise<CgroupPlacement> => {
    await rmdir(directory).catch(() => undefined);
    return { enforced: false, reason: `the cgroup could not be set up: ${message(error)}` };
  };
  try {
    const enable = enabled.map((c) => `+${c}`).join(' ');
    await writeFile(join(root, 'cgroup.subtree_control'), enable);
    await mkdir(join(root, parent), { recursive: true });
    await writeFile(join(root, parent, 'cgroup.subtree_control'), enable);
    await mkdir(directory, { recursive: true });
    await writeLimits(directory, limits);
    await writeFile(join(directory, 'memory.oom.group'), '1');
  } catch (error) {
    const placement = await failed(error);
    return () => Promise.resolve(placement);
  }
  return (pid) =>
    writeFile(join(directory, 'cgroup.procs'), String(pid)).then(() => ({ enforced: true, reason: '' }), failed);
};

const weightOf = ({ vcpus }: CgroupLimits): number => Math.min(largestWeight, weightPerCpu * vcpus);
const tasksOf = ({ pids, vcpus }: CgroupLimits): number => pids ?? 512 + 8 * vcpus;

const placeInUnit = async (
  root: string,
  instanceId: string,
  pid: number,
  limits: CgroupLimits,
): Promise<CgroupPlacement> => {
  const directory = unitDirectoryOf(root, instanceId);
  try {
    // Beside a part of the same machine.
    if (await isPopulated(directory)) await writeFile(join(directory, 'cgroup.procs'), String(pid));
    else await startUnit(instanceId, pid, await unitLimits(limits));
    await writeFile(join(directory, 'memory.oom.group'), '1');
    return { enforced: true, reason: '' };
  } catch (error) {
    return { enforced: false, reason: `its unit could not be started: ${message(error)}` };
  }
};

/** There are processes in it. Null for a group that is not there. */
const isPopulated = async (directory: string): Promise<boolean | null> => {
  const events = await readFile(join(directory, 'cgroup.events'), 'utf8').catch(() => null);
  return events === null ? null : /^populated 1$/m.test(events);
};

const unitLimits = async (limits: CgroupLimits): Promise<UnitLimits> => ({
  memoryBytes: await countedMemory(limits),
  cpuPerSecond: limits.vcpus * 1_000_000,
  weight: weightOf(limits),
  tasks: tasksOf(limits),
});

const writeLimits = async (directory: string, limits: CgroupLimits): Promise<void> => {
  await writeFile(join(directory, 'memory.max'), String(await countedMemory(limits)));
  await writeFile(join(directory, 'cpu.max'), `${limits.vcpus * cpuPeriodMicroseconds} ${cpuPeriodMicroseconds}`);
  await writeFile(join(directory, 'cpu.weight'), String(weightOf(limits)));
  await writeFile(join(directory, 'pids.max'), String(tasksOf(limits)));
  // Only where the disks' scheduler knows weights.
  await writeFile(join(directory, 'io.weight'), String(weightOf(limits))).catch(() => undefined);
};

/**
 * Other limits for a VMM that runs. Nothing happens where the instance has no cgroup with limits; throws where it has one
 * and they cannot be set.
 */
export const changeLimits = async (instanceId: string, limits: CgroupLimits): Promise<void> => {
  const root = await unifiedRoot();
  if (!root) return;
  const isLimited = (directory: string): Promise<boolean> =>
    stat(join(directory, 'memory.max')).then(
      () => true,
      () => false,
    );
  // What systemd keeps it sets again whenever it looks: it is told.
  if (await isLimited(unitDirectoryOf(root, instanceId))) await changeUnit(instanceId, await unitLimits(limits));
  const directory = directoryOf(root, instanceId);
  if (await isLimited(directory)) await writeLimits(directory, limits);
};

/**
 * How many processes of the instance's cgroup the kernel has ended because memory ran out, its own or the host's. Null
 * when it has none that counts them.
 */
export const oomKills = async (instanceId: string): Promise<number | null> => {
  const root = await unifiedRoot();
  if (!root) return null;
  const counts = await Promise.all(
    directoriesOf(root, instanceId).map(async (directory) => {
      const events = await readFile(join(directory, 'memory.events'), 'utf8').catch(() => '');
      return /^oom_kill (\d+)$/m.exec(events)?.[1];
    }),
  );
  const count = counts.find((one) => one !== undefined);
  return count === undefined ? null : Number(count);
};

/**
 * Removes the instance's cgroup once its processes are gone. Nothing to remove is success; a busy group is retried for
 * a second, then an error.
 */
export const removeCgroup = async (instanceId: string): Promise<void> => {
  const root = await unifiedRoot();
  if (!root) return;
  await Promise.all(directoriesOf(root, instanceId).map(removeDirectory));
};

/** systemd removes that of a unit as well: whoever comes second finds nothing. */
const removeDirectory = async (directory: string): Promise<void> => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await rmdir(directory);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'ENOENT') return;
      if (code !== 'EBUSY' || attempt >= 20) throw error;
      await delay(50);
    }
  }
};

/** A group as `makeCgroup` makes them. */
export interface InstanceCgroup {
  instanceId: string;
  inode: number;
  /** There are processes in it. */
  populated: boolean;
}

/** All groups of instances on this machine, of every agent that there is on it. */
export const instanceCgroups = async (): Promise<InstanceCgroup[]> => {
  const root = await unifiedRoot();
  if (!root) return [];
  const found = await Promise.all([groupsIn(join(root, unitSlice), unitName), groupsIn(join(root, parent), groupName)]);
  return found.flat();
};

const groupName = /^instance-([A-Za-z0-9-]{1,64})$/;
const unitName = /^vc-stack-instance-([A-Za-z0-9-]{1,64})\.scope$/;

const groupsIn = async (folder: string, named: RegExp): Promise<InstanceCgroup[]> => {
  const groups: InstanceCgroup[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const instanceId = named.exec(name)?.[1];
    if (instanceId === undefined) continue;
    const directory = join(folder, name);
    const found = await stat(directory).catch(() => null);
    const populated = await isPopulated(directory);
    // Gone meanwhile.
    if (found && populated !== null) groups.push({ instanceId, inode: found.ino, populated });
  }
  return groups;
};
