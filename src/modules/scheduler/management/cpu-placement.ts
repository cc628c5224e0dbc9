import type { NodeRoom } from '../../host/contract/cpu-topology';
import type { ClaimedOfNode } from '../../host/contract/host.ports';
import type { CpuClaim, WantedCpus } from '../contract/scheduler.ports';

interface FreeNode {
  node: number;
  cpus: number;
  memoryBytes: number;
}

type Used = Readonly<Record<string, ClaimedOfNode>>;

const freeOf = (nodes: readonly NodeRoom[], used: Used): FreeNode[] =>
  nodes.map(({ node, dedicatedCpus, memoryBytes }) => ({
    node,
    cpus: dedicatedCpus - (used[node]?.cpus ?? 0),
    memoryBytes: memoryBytes - (used[node]?.memoryBytes ?? 0),
  }));

/** The fullest first: larger pieces stay for those who need them. */
const fullestFirst = (one: FreeNode, other: FreeNode): number => one.cpus - other.cpus || one.node - other.node;

/**
 * On which NUMA nodes of a host an instance gets CPUs of its own; null where it cannot. Without nodes of its own it is on
 * one, the smallest that has room, else on as few as may be; its memory is wherever there is some. With them it is spread
 * evenly over so many, with its memory.
 */
export const placeCpus = (nodes: readonly NodeRoom[], used: Used, wanted: WantedCpus): CpuClaim[] | null => {
  const free = freeOf(nodes, used).sort(fullestFirst);
  return wanted.numaNodes === null ? anywhere(free, wanted.count) : spread(free, wanted, wanted.numaNodes);
};

const anywhere = (free: readonly FreeNode[], count: number): CpuClaim[] | null => {
  const one = free.find(({ cpus }) => cpus >= count);
  if (one) return [{ node: one.node, cpus: count, memoryBytes: 0 }];
  const claims: CpuClaim[] = [];
  let left = count;
  for (const { node, cpus } of free.toReversed()) {
    if (left === 0) break;
    const taken = Math.min(left, Math.max(0, cpus));
    if (taken > 0) claims.push({ node, cpus: taken, memoryBytes: 0 });
    left -= taken;
  }
  return left === 0 ? claims.sort((a, b) => a.node - b.node) : null;
};

const spread = (free: readonly FreeNode[], wanted: WantedCpus, over: number): CpuClaim[] | null => {
  const cpus = Math.ceil(wanted.count / over);
  const memoryBytes = Math.ceil(wanted.memoryBytes / over);
  const fit = free.filter((node) => node.cpus >= cpus && node.memoryBytes >= memoryBytes).slice(0, over);
  if (fit.length < over) return null;
  return fit.map(({ node }) => ({ node, cpus, memoryBytes })).sort((a, b) => a.node - b.node);
};

/** Whether the host could ever hold it, were it empty. */
export const couldPlace = (nodes: readonly NodeRoom[], wanted: WantedCpus): boolean =>
  placeCpus(nodes, {}, wanted) !== null;

/** How many CPUs are free in all. */
export const freeCpus = (nodes: readonly NodeRoom[], used: Used): number =>
  freeOf(nodes, used).reduce((sum, { cpus }) => sum + Math.max(0, cpus), 0);

/** What is used, and these claims too. */
export const usedWith = (used: Used, claims: readonly CpuClaim[], sign: 1 | -1 = 1): Used => {
  const sums: Record<string, ClaimedOfNode> = { ...used };
  for (const { node, cpus, memoryBytes } of claims) {
    const before = sums[node] ?? { cpus: 0, memoryBytes: 0 };
    sums[node] = { cpus: before.cpus + sign * cpus, memoryBytes: before.memoryBytes + sign * memoryBytes };
  }
  return sums;
};
