import type { Command } from 'commander';
import { fact, type Fact } from '../../../core/cli/output/sections';
import { parseInteger } from '../../../core/cli/input/parse-size';
import type { Hardware } from '../contract/hardware';

export interface HardwareOptions {
  pageSize?: string;
  sharedMemory?: true;
  cpuModel?: string;
  cpuPolicy?: string;
  numaNodes?: string;
}

export const addHardwareOptions = (command: Command): Command =>
  command
    .option('--page-size <size>', 'memory of huge pages of that size: 2MiB or 1GiB')
    .option('--shared-memory', 'memory that processes beside the virtual machine monitor can be given')
    .option(
      '--cpu-model <model>',
      'as the virtual machine monitor calls it, e.g. EPYC-Rome; all of the host when missing',
    )
    .option('--cpu-policy <policy>', 'dedicated: each vCPU has a CPU of the host for itself; shared when missing')
    .option('--numa-nodes <count>', 'the guest sees so many NUMA nodes, on as many of the host; needs dedicated CPUs');

/** The part of a request that asks for it; nothing when none is given. */
export const hardwareFrom = ({
  pageSize,
  sharedMemory,
  cpuModel,
  cpuPolicy,
  numaNodes,
}: HardwareOptions): { hardware?: object } => {
  const hardware = {
    ...(pageSize !== undefined && { pageSize }),
    ...(sharedMemory === true && { sharedMemory }),
    ...(cpuModel !== undefined && { cpuModel }),
    ...(cpuPolicy !== undefined && { cpuPolicy }),
    ...(numaNodes !== undefined && { numaNodes: parseInteger(numaNodes, '--numa-nodes', 1, 16) }),
  };
  return Object.keys(hardware).length === 0 ? {} : { hardware };
};

/** What there is of it, as people read it. */
export const hardwareFacts = ({ pageSize, sharedMemory, cpuModel, cpuPolicy, numaNodes }: Hardware): Fact[] => [
  ...(pageSize === null ? [] : [fact('Page size', pageSize)]),
  ...(sharedMemory ? [fact('Shared memory', 'yes')] : []),
  ...(cpuModel === null ? [] : [fact('CPU model', cpuModel)]),
  ...(cpuPolicy === 'shared' ? [] : [fact('CPU policy', cpuPolicy)]),
  ...(numaNodes === null ? [] : [fact('NUMA nodes', String(numaNodes))]),
];
