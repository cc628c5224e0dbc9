import { eachSize, noHugePages } from '../../../host/contract/page-sizes';
import type { ClaimSize, PlainSize } from '../../../scheduler/contract/scheduler.ports';
import { largerClaims } from '../../../scheduler/contract/cpu-claims';
import { type AskedOfHardware, dedicatedCpusOf } from '../../contract/hardware';

interface Sized {
  vcpus: number;
  memoryBytes: number;
  diskBytes: number;
  hardware: AskedOfHardware;
}

/**
 * What an instance of this size takes of its host: one that has huge pages takes nothing of its other memory, and one that
 * has CPUs for itself, which are claimed by their NUMA nodes, nothing of those that others share.
 */
export const roomOf = (size: Sized): PlainSize => {
  const { memoryBytes, diskBytes, hardware } = size;
  const { pageSize } = hardware;
  const vcpus = dedicatedCpusOf(size) ? 0 : size.vcpus;
  if (pageSize === undefined) return { vcpus, memoryBytes, diskBytes };
  return { vcpus, memoryBytes: 0, hugePages: { ...noHugePages, [pageSize]: memoryBytes }, diskBytes };
};

/** Of each the larger one: room for either. */
export const roomForBoth = (one: ClaimSize, other: ClaimSize): ClaimSize => ({
  vcpus: Math.max(one.vcpus, other.vcpus),
  memoryBytes: Math.max(one.memoryBytes, other.memoryBytes),
  hugePages: eachSize((size) => Math.max(one.hugePages?.[size] ?? 0, other.hugePages?.[size] ?? 0)),
  diskBytes: Math.max(one.diskBytes, other.diskBytes),
  ...((one.cpus ?? other.cpus) && { cpus: largerClaims(one.cpus ?? [], other.cpus ?? []) }),
});
