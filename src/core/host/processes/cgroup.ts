import { mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** What an instance may take. Memory in bytes of guest RAM; the VMM's own need is added here. */
export interface CgroupLimits {
  memoryBytes: number;
  vcpus: number;
  /** Largest number of threads and processes. Default 512 and 8 per vCPU. */
  pids?: number;
}

interface CgroupPlacement {
  enforced: boolean;
  /** Why limits are not enforced, for the host's conditions; empty when they are. */
  reason: string;
}

/** Moves a process into the group that was made for it. */
export type PlaceInCgroup = (pid: number) => Promise<CgroupPlacement>;

const controllers = ['cpu', 'memory', 'pids'] as const;
const parent = 'vc-stack';
/** Device models, page cache of the VMM's files and, under software emulation, translated code. */
const vmmOverheadBytes = 256 * 1024 * 1024;
const cpuPeriodMicroseconds = 100_000;

const unifiedRoot = async (): Promise<string | null> => {
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const line = mounts.split('\n').find((l) => l.split(' ')[2] === 'cgroup2');
  return line?.split(' ')[1] ?? null;
};

const directoryOf = (root: string, instanceId: string): string => {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(instanceId)) throw new Error(`"${instanceId.slice(0, 64)}" cannot name a cgroup`);
  return join(root, parent, `instance-${instanceId}`);
};

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Makes a cgroup v2 for a VMM, with limits on memory, CPU time and threads: its process may be placed there as soon as
 * there is one. A host that cannot enforce them (no cgroup v2, or its controllers are bound to v1) is not an error: the
 * placement says why, and the caller reports it. Undone by `removeCgroup`.
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
  const directory = directoryOf(root, instanceId);
  const failed = async (error: unknown): Promise<CgroupPlacement> => {
    await rmdir(directory).catch(() => undefined);
    return { enforced: false, reason: `the cgroup could not be set up: ${message(error)}` };
  };
  try {
    const enable = controllers.map((c) => `+${c}`).join(' ');
    await writeFile(join(root, 'cgroup.subtree_control'), enable);
    await mkdir(join(root, parent), { recursive: true });
    await writeFile(join(root, parent, 'cgroup.subtree_control'), enable);
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'memory.max'), String(limits.memoryBytes + vmmOverheadBytes));
    await writeFile(join(directory, 'memory.oom.group'), '1');
    await writeFile(join(directory, 'cpu.max'), `${limits.vcpus * cpuPeriodMicroseconds} ${cpuPeriodMicroseconds}`);
    await writeFile(join(directory, 'pids.max'), String(limits.pids ?? 512 + 8 * limits.vcpus));
  } catch (error) {
    return unenforced((await failed(error)).reason);
  }
  return (pid) =>
    writeFile(join(directory, 'cgroup.procs'), String(pid)).then(() => ({ enforced: true, reason: '' }), failed);
};

/**
 * How many processes of the instance's cgroup the kernel has ended because memory ran out, its own or the host's. Null
 * when it has none that counts them.
 */
export const oomKills = async (instanceId: string): Promise<number | null> => {
  const root = await unifiedRoot();
  if (!root) return null;
  const events = await readFile(join(directoryOf(root, instanceId), 'memory.events'), 'utf8').catch(() => '');
  const count = /^oom_kill (\d+)$/m.exec(events)?.[1];
  return count === undefined ? null : Number(count);
};

/**
 * Removes the instance's cgroup once its processes are gone. Nothing to remove is success; a busy group is retried for
 * a second, then an error.
 */
export const removeCgroup = async (instanceId: string): Promise<void> => {
  const root = await unifiedRoot();
  if (!root) return;
  const directory = directoryOf(root, instanceId);
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
  const groups: InstanceCgroup[] = [];
  for (const name of await readdir(join(root, parent)).catch(() => [])) {
    const instanceId = /^instance-([A-Za-z0-9-]{1,64})$/.exec(name)?.[1];
    if (instanceId === undefined) continue;
    const directory = join(root, parent, name);
    const found = await stat(directory).catch(() => null);
    const events = await readFile(join(directory, 'cgroup.events'), 'utf8').catch(() => null);
    // Gone meanwhile.
    if (found && events !== null)
      groups.push({ instanceId, inode: found.ino, populated: /^populated 1$/m.test(events) });
  }
  return groups;
};
