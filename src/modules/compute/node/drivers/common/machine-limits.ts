import type { CgroupLimits } from '../../../../../core/host/processes/cgroup';
import type { VmSize, VmSpec } from '../vmm-driver';

/** What a machine of that size may take of its host. */
export const limitsOfMachine = (
  { vcpus, memoryBytes }: VmSize,
  { hardware }: Pick<VmSpec, 'hardware'>,
): CgroupLimits =>
  hardware?.pageSize === undefined ? { vcpus, memoryBytes } : { vcpus, memoryBytes: 0, hugePageBytes: memoryBytes };
