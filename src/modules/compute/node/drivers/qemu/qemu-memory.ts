import { pageSizes } from '../../../../host/contract/page-sizes';
import type { AskedOfHardware } from '../../../contract/hardware';
import type { VmSpec } from '../vmm-driver';
import { boundTo, nodeMemory, numaArguments } from './qemu-numa';

/** Of the object that is the memory of a machine from its start on. */
const mainMemory = 'main-memory';

/** Memory that others may map, and memory of huge pages, has a file without a name behind it. */
const options = ({ pageSize, sharedMemory }: AskedOfHardware): Record<string, string> => ({
  share: sharedMemory === true ? 'on' : 'off',
  // All of it is there before the machine is: what is missing is said then, and not by its end later.
  ...(pageSize !== undefined && { hugetlb: 'on', hugetlbsize: `${pageSizes[pageSize]}B`, prealloc: 'on' }),
});

const isSpecial = ({ pageSize, sharedMemory }: AskedOfHardware): boolean =>
  pageSize !== undefined || sharedMemory === true;

/** An object that is memory of a machine. */
export const memoryBackend = (
  id: string,
  bytes: number,
  hardware: AskedOfHardware = {},
  more: Readonly<Record<string, string>> = {},
): string[] => {
  const special = isSpecial(hardware);
  const words = { id, size: `${bytes}B`, ...(special && options(hardware)), ...more };
  const listed = Object.entries(words).map(([key, value]) => `${key}=${value}`);
  return ['-object', [special ? 'memory-backend-memfd' : 'memory-backend-ram', ...listed].join(',')];
};

/** What is asked of the memory of a machine; nothing where QEMU makes it by itself, as machines always had it. */
export const mainMemoryArguments = ({ memoryBytes, hardware = {}, cpus }: VmSpec): string[] => {
  if (cpus?.nodes)
    return [
      ...cpus.nodes.flatMap((node, guestNode) =>
        memoryBackend(nodeMemory(guestNode), node.memoryBytes, hardware, boundTo(node.hostNode)),
      ),
      ...numaArguments(cpus.nodes),
    ];
  return isSpecial(hardware)
    ? [...memoryBackend(mainMemory, memoryBytes, hardware), '-machine', `memory-backend=${mainMemory}`]
    : [];
};
