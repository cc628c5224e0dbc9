import { readdir, readFile } from 'node:fs/promises';
import { arch, availableParallelism, hostname, release, totalmem } from 'node:os';
import { basename, join } from 'node:path';
import type { MachineInventory } from '../contract/host.api';
import type { CpuTopology } from '../contract/cpu-topology';

export type Machine = Omit<MachineInventory, 'agentVersion' | 'complete'>;

const architectures: Record<string, string> = { x64: 'x86_64', arm64: 'aarch64' };
/** Block devices that are no disks of the machine. */
const virtualDisk = /^(loop|ram|zram|dm-|md|sr|fd|nbd|rbd)/;
/**
 * Links that are no cards, made by us or by containers; `l`, a hash and the end of an id is how the product names its
 * own in the host's namespace.
 */
const virtualNic = /^(lo$|veth|tap|vc|docker|br-|virbr|vxlan|dummy|ifb|tun|l[0-9a-f]{14}$)/;

/**
 * What this machine is, from /proc and /sys. Missing files are normal (containers, other architectures) and leave a
 * part empty.
 * @param topology its CPUs, as they were read already
 * @param root where /proc and /sys are; another folder in tests
 */
export const readMachine = async (topology: CpuTopology, root = '/'): Promise<Machine> => {
  const [cpu, memory, disks, nics, cgroup] = await Promise.all([
    readCpu(topology, root),
    readMemory(root),
    readDisks(root),
    readNics(root),
    readCgroup(root),
  ]);
  return {
    hostname: clean(hostname()),
    kernel: clean(release()),
    architecture: architectures[arch()] ?? arch(),
    cpu,
    memory,
    disks,
    nics,
    cgroup,
  };
};

/** Devices choose their own strings; PostgreSQL refuses NUL and people refuse control characters. */
const clean = (text: string): string => text.replace(/[^\P{Cc}\n\t]|\p{Cs}/gu, '').trim();

const text = async (path: string): Promise<string> => {
  try {
    return clean(await readFile(path, 'utf8'));
  } catch {
    return '';
  }
};
const number = async (path: string): Promise<number> => Number.parseInt(await text(path), 10) || 0;
const list = (path: string): Promise<string[]> => readdir(path).catch(() => []);

const readCpu = async ({ nodes }: CpuTopology, root: string): Promise<MachineInventory['cpu']> => {
  const info = await text(join(root, 'proc/cpuinfo'));
  const field = (names: string): string => new RegExp(`^(?:${names})\\s*:\\s*(.*)$`, 'm').exec(info)?.[1]?.trim() ?? '';
  return {
    model: field('model name|Model|Processor') || 'unknown',
    flags: field('flags|Features')
      .split(/\s+/)
      .filter((flag) => flag !== ''),
    threads: availableParallelism(),
    numaNodes: nodes.length,
    nodes: [...nodes],
  };
};

const readMemory = async (root: string): Promise<MachineInventory['memory']> => {
  const info = await text(join(root, 'proc/meminfo'));
  const totalKib = Number(/^MemTotal:\s+(\d+) kB$/m.exec(info)?.[1] ?? 0);
  const dir = join(root, 'sys/kernel/mm/hugepages');
  const hugepages = await Promise.all(
    (await list(dir)).sort().flatMap((name) => {
      const kib = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0);
      if (kib === 0) return [];
      return [
        Promise.all([number(join(dir, name, 'nr_hugepages')), number(join(dir, name, 'free_hugepages'))]).then(
          ([total, free]) => ({ sizeBytes: kib * 1024, total, free }),
        ),
      ];
    }),
  );
  return { totalBytes: totalKib > 0 ? totalKib * 1024 : totalmem(), hugepages };
};

const readDisks = async (root: string): Promise<MachineInventory['disks']> => {
  const dir = join(root, 'sys/block');
  const names = (await list(dir)).filter((name) => !virtualDisk.test(name)).sort();
  const disks = await Promise.all(
    names.map(async (name) => {
      const [sectors, model, rotational] = await Promise.all([
        number(join(dir, name, 'size')),
        text(join(dir, name, 'device/model')),
        number(join(dir, name, 'queue/rotational')),
      ]);
      // The kernel counts in sectors of 512 bytes, whatever the device's own sector size is.
      return { name: basename(name), sizeBytes: sectors * 512, model, rotational: rotational === 1 };
    }),
  );
  return disks.filter((disk) => disk.sizeBytes > 0);
};

const readNics = async (root: string): Promise<MachineInventory['nics']> => {
  const dir = join(root, 'sys/class/net');
  const names = (await list(dir)).filter((name) => !virtualNic.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const [mac, mtu, speed, state] = await Promise.all([
        text(join(dir, name, 'address')),
        number(join(dir, name, 'mtu')),
        number(join(dir, name, 'speed')),
        text(join(dir, name, 'operstate')),
      ]);
      return { name, mac, mtu, speedMbit: speed > 0 ? speed : null, up: state === 'up' };
    }),
  );
};

/**
 * Version 2 stands at the top, or beside version 1 under `unified`, where controllers that version 1 holds are missing.
 */
const readCgroup = async (root: string): Promise<NonNullable<MachineInventory['cgroup']>> => {
  const dir = join(root, 'sys/fs/cgroup');
  for (const file of ['cgroup.controllers', 'unified/cgroup.controllers']) {
    const controllers = await text(join(dir, file));
    if (controllers !== '') return { version: 2, controllers: controllers.split(/\s+/) };
  }
  return { version: (await list(dir)).length > 0 ? 1 : 0, controllers: [] };
};
