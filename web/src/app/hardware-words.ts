import type { Flavor } from '../lib/types';

/** What is asked for of it, each with its name. */
export const hardwareFacts = ({
  pageSize,
  sharedMemory,
  cpuModel,
  cpuPolicy,
  numaNodes,
}: Flavor['hardware']): [string, string][] => [
  ...(pageSize === null ? [] : [['Page size', pageSize] satisfies [string, string]]),
  ...(sharedMemory ? [['Shared memory', 'yes'] satisfies [string, string]] : []),
  ...(cpuModel === null ? [] : [['CPU model', cpuModel] satisfies [string, string]]),
  ...(cpuPolicy === 'shared' ? [] : [['CPU policy', cpuPolicy] satisfies [string, string]]),
  ...(numaNodes === null ? [] : [['NUMA nodes', String(numaNodes)] satisfies [string, string]]),
];
