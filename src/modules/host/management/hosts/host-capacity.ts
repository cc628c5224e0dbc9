import type { HostConfig } from '../../contract/host.config';

export interface Capacity {
  vcpus: number;
  memoryBytes: number;
  diskBytes: number;
}

/** What instances may claim on a host in all. Threads are handed out several times; memory and disk never are. */
export const capacityOf = (
  raw: { threads: number; memoryBytes: number; diskBytes: number },
  config: HostConfig,
): Capacity => ({
  vcpus: Math.floor(raw.threads * config.cpuOvercommit),
  memoryBytes: Math.max(0, raw.memoryBytes - Math.min(config.memoryReserveBytes, Math.floor(raw.memoryBytes / 4))),
  diskBytes: raw.diskBytes,
});
