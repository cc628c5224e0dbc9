import type { HostConfig } from '../../contract/host.config';
import type { HugePages } from '../../contract/page-sizes';

export interface Capacity {
  vcpus: number;
  /** Without huge pages. */
  memoryBytes: number;
  hugePages: HugePages;
  diskBytes: number;
}

/** What instances may claim on a host in all. Threads are handed out several times; memory and disk never are. */
export const capacityOf = (
  raw: { threads: number; memoryBytes: number; hugePages: HugePages; diskBytes: number },
  config: HostConfig,
): Capacity => ({
  vcpus: Math.floor(raw.threads * config.cpuOvercommit),
  memoryBytes: Math.max(0, raw.memoryBytes - Math.min(config.memoryReserveBytes, Math.floor(raw.memoryBytes / 4))),
  // Whoever reserves them has decided what they are for.
  hugePages: raw.hugePages,
  diskBytes: raw.diskBytes,
});
