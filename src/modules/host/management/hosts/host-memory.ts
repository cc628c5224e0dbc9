import type { Inventory } from '../../contract/host.api';
import { eachSize, type HugePages, pageSizes } from '../../contract/page-sizes';

type Memory = Inventory['memory'];

const bytesOf = ({ hugepages }: Memory, counts: (sizeBytes: number) => boolean): number =>
  hugepages
    .filter(({ sizeBytes }) => counts(sizeBytes))
    .reduce((sum, { sizeBytes, total }) => sum + sizeBytes * total, 0);

/** Bytes that consist of huge pages, of the sizes that instances can have. */
export const hugePagesOf = (memory: Memory): HugePages =>
  eachSize((size) => bytesOf(memory, (sizeBytes) => sizeBytes === pageSizes[size]));

/** Bytes that do not: what is kept for huge pages of any size nothing else can have. */
export const plainMemory = (memory: Memory): number => Math.max(0, memory.totalBytes - bytesOf(memory, () => true));
