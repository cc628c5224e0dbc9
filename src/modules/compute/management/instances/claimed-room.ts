import { eachSize, noHugePages } from '../../../host/contract/page-sizes';
import type { ClaimSize } from '../../../scheduler/contract/scheduler.ports';
import type { AskedOfHardware } from '../../contract/hardware';

interface Sized {
  vcpus: number;
  memoryBytes: number;
  diskBytes: number;
  hardware: AskedOfHardware;
}

/** What an instance of this size takes of its host: one that has huge pages takes nothing of its other memory. */
export const roomOf = ({ vcpus, memoryBytes, diskBytes, hardware }: Sized): ClaimSize => {
  const { pageSize } = hardware;
  if (pageSize === undefined) return { vcpus, memoryBytes, diskBytes };
  return { vcpus, memoryBytes: 0, hugePages: { ...noHugePages, [pageSize]: memoryBytes }, diskBytes };
};

/** Of each the larger one: room for either. */
export const roomForBoth = (one: ClaimSize, other: ClaimSize): ClaimSize => ({
  vcpus: Math.max(one.vcpus, other.vcpus),
  memoryBytes: Math.max(one.memoryBytes, other.memoryBytes),
  hugePages: eachSize((size) => Math.max(one.hugePages?.[size] ?? 0, other.hugePages?.[size] ?? 0)),
  diskBytes: Math.max(one.diskBytes, other.diskBytes),
});
