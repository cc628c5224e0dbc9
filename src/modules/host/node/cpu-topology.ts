import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { availableCpus } from '../../../core/host/cpus/affinity';
import { parseCpuList } from '../../../core/host/cpus/cpu-list';
import type { CpuTopology, HostNode } from '../contract/cpu-topology';

/** More nodes than any machine has. */
const mostNodes = 1024;

const text = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
const cpusIn = async (path: string): Promise<number[] | null> => {
  const list = parseCpuList(await text(path));
  return list && list.length > 0 ? list : null;
};

/**
 * The CPUs of this machine that the agent may use, by NUMA node and by core. CPUs that are off, or that its cpuset or
 * affinity keep from the agent, are none. Where the kernel tells of no nodes there is one.
 * @param dedicated what the configuration sets aside for instances of their own; what is not there is left out
 * @param root where /proc and /sys are; another folder in tests
 */
export const readCpuTopology = async (dedicated: readonly number[], root = '/'): Promise<CpuTopology> => {
  const cpuDir = join(root, 'sys/devices/system/cpu');
  const online = await cpusIn(join(cpuDir, 'online'));
  const own = await availableCpus(root);
  const all = online ?? own ?? Array.from({ length: availableParallelism() }, (_, cpu) => cpu);
  const usable = new Set(own === null ? all : all.filter((cpu) => own.includes(cpu)));
  const cores = await coresOf(cpuDir, usable);
  const nodes = await nodesOf(join(root, 'sys/devices/system/node'), usable);
  const aside = new Set(dedicated.filter((cpu) => usable.has(cpu)));
  return {
    nodes: (nodes.length > 0 ? nodes : [wholeMachine(usable)]).map(({ cpus, ...node }) => ({
      ...node,
      cores: cores.map((core) => core.filter((cpu) => cpus.has(cpu))).filter((core) => core.length > 0),
      dedicatedCpus: [...cpus].filter((cpu) => aside.has(cpu)).sort((a, b) => a - b),
    })),
  };
};

type FoundNode = Pick<HostNode, 'node' | 'memoryBytes' | 'hugePagesBytes' | 'distances'> & {
  cpus: ReadonlySet<number>;
};

const wholeMachine = (cpus: ReadonlySet<number>): FoundNode => ({
  node: 0,
  memoryBytes: totalmem(),
  hugePagesBytes: 0,
  distances: [],
  cpus,
});

/** Threads of one core together. Where the kernel does not tell them, by package and core; else each alone. */
const coresOf = async (dir: string, usable: ReadonlySet<number>): Promise<number[][]> => {
  const byCore = new Map<string, number[]>();
  for (const cpu of [...usable].sort((a, b) => a - b)) {
    const topology = join(dir, `cpu${cpu}/topology`);
    const siblings = await cpusIn(join(topology, 'thread_siblings_list'));
    const [core, pack] = [await text(join(topology, 'core_id')), await text(join(topology, 'physical_package_id'))];
    const key =
      siblings?.includes(cpu) === true
        ? `s${siblings[0] ?? cpu}`
        : core.trim() === ''
          ? `c${cpu}`
          : `p${pack.trim()}/${core.trim()}`;
    byCore.set(key, [...(byCore.get(key) ?? []), cpu]);
  }
  return [...byCore.values()];
};

/** Bytes of all sizes. */
const hugePagesIn = async (dir: string): Promise<number> => {
  let bytes = 0;
  for (const name of await readdir(dir).catch(() => [] as string[])) {
    const kib = Number(/^hugepages-(\d{1,9})kB$/.exec(name)?.[1] ?? 0);
    bytes += kib * 1024 * (Number.parseInt(await text(join(dir, name, 'nr_hugepages')), 10) || 0);
  }
  return bytes;
};

const nodesOf = async (dir: string, usable: ReadonlySet<number>): Promise<FoundNode[]> => {
  const names = await readdir(dir).catch(() => [] as string[]);
  const ids = names
    .flatMap((name) => (/^node\d{1,6}$/.test(name) ? [Number(name.slice(4))] : []))
    .sort((a, b) => a - b)
    .slice(0, mostNodes);
  const nodes = await Promise.all(
    ids.map(async (node) => {
      const own = join(dir, `node${node}`);
      const cpus = (parseCpuList(await text(join(own, 'cpulist'))) ?? []).filter((cpu) => usable.has(cpu));
      const kib = /MemTotal:\s+(\d{1,15}) kB/.exec(await text(join(own, 'meminfo')))?.[1];
      // One number for each node that there is, in their order: numbers may have holes, the row has none.
      const row = (await text(join(own, 'distance'))).trim().split(/\s+/).map(Number);
      const distances = ids.flatMap((to, index) => {
        const distance = row[index];
        return distance === undefined || !Number.isInteger(distance) || distance <= 0 ? [] : [{ node: to, distance }];
      });
      return {
        node,
        memoryBytes: Number(kib ?? 0) * 1024,
        hugePagesBytes: await hugePagesIn(join(own, 'hugepages')),
        distances,
        cpus: new Set(cpus),
      };
    }),
  );
  // A CPU that no node names is of the first one that has any.
  const named = new Set(nodes.flatMap(({ cpus }) => [...cpus]));
  const homeless = [...usable].filter((cpu) => !named.has(cpu));
  const home = nodes.find(({ cpus }) => cpus.size > 0) ?? nodes[0];
  return nodes.map((one) => (one === home ? { ...one, cpus: new Set([...one.cpus, ...homeless]) } : one));
};
