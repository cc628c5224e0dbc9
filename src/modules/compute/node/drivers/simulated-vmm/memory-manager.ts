import { ApiFailure } from './api-failure';
import type { VmConfig } from './vm-config';

const pageBytes = 4096;
const hugePageBytes = 2 * 1024 * 1024;

interface Region {
  size: number;
  hugepages: boolean;
  hugepage_size: number | null;
}

/**
 * What the memory manager says of RAM before anything else is looked at: also at a reboot, after a resize that was
 * accepted. Throws `ApiFailure` under `heading`.
 */
export const checkMemory = ({ memory }: VmConfig, heading: string): void => {
  const fail = (text: string): ApiFailure => new ApiFailure('internal', heading, 'Memory manager error', text);
  const zones = memory.zones ?? [];
  if (memory.size !== 0 && zones.length > 0) throw fail('Memory configuration is not valid');
  if (memory.size === 0 && zones.length === 0) throw fail('No memory zones found');
  const regions: Region[] = memory.size === 0 ? zones : [memory];
  for (const { size, hugepages, hugepage_size: wanted } of regions)
    if (size % (hugepages ? (wanted ?? hugePageBytes) : pageBytes) !== 0)
      throw fail('Memory size is misaligned with default page size or its hugepage size');
  if (new Set(zones.map(({ id }) => id)).size < zones.length) throw fail('Memory zone identifier is not unique');
};
