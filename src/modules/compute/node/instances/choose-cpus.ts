import type { HostNode } from '../../../host/contract/cpu-topology';

/** So many CPUs of one NUMA node for one instance. */
export interface WantedOfNode {
  node: number;
  cpus: number;
  memoryBytes: number;
}

/** Which they are. */
export interface GivenOfNode {
  node: number;
  cpus: number[];
  memoryBytes: number;
}

/**
 * Which CPUs of each node, of those that are set aside and not taken: whole cores first, so that no two instances are
 * threads of one core where that can be; what is left over of a core last. Null when there are not so many.
 */
export const chooseCpus = (
  nodes: readonly HostNode[],
  wanted: readonly WantedOfNode[],
  isTaken: (cpu: number) => boolean,
): GivenOfNode[] | null => {
  const given: GivenOfNode[] = [];
  for (const { node, cpus: count, memoryBytes } of wanted) {
    const found = nodes.find((one) => one.node === node);
    const cpus = found && ofNode(found, count, isTaken);
    if (!cpus) return null;
    given.push({ node, cpus, memoryBytes });
  }
  return given;
};

const ofNode = (
  { cores, dedicatedCpus }: HostNode,
  count: number,
  isTaken: (cpu: number) => boolean,
): number[] | null => {
  const aside = new Set(dedicatedCpus);
  const free = cores.map((core) => ({
    cpus: core.filter((cpu) => aside.has(cpu) && !isTaken(cpu)),
    // Threads of it that others have, or may have, count as taken.
    whole: core.every((cpu) => aside.has(cpu) && !isTaken(cpu)),
  }));
  const chosen: number[] = [];
  const whole = free.filter((core) => core.whole);
  for (const { cpus } of whole) if (count - chosen.length >= cpus.length) chosen.push(...cpus);
  const left = new Set(chosen);
  // Pieces of cores that are broken already, before a whole one is broken.
  for (const { cpus } of [...free.filter((core) => !core.whole), ...whole])
    for (const cpu of cpus)
      if (chosen.length < count && !left.has(cpu)) {
        chosen.push(cpu);
        left.add(cpu);
      }
  return chosen.length === count ? chosen.sort((a, b) => a - b) : null;
};
