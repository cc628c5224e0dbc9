import type { AskedOfHardware } from '../../../contract/hardware';
import type { VmSpec } from '../vmm-driver';

/** Of the object that is the memory of a machine from its start on. */
const mainMemory = 'main-memory';

/** Memory that others may map has a file without a name behind it. */
export const memoryBackend = (
  id: string,
  bytes: number,
  { sharedMemory }: AskedOfHardware = {},
  options: Readonly<Record<string, string>> = {},
): string[] => {
  const shared = sharedMemory === true;
  const words = { id, size: `${bytes}B`, ...(shared && { share: 'on' }), ...options };
  const listed = Object.entries(words).map(([key, value]) => `${key}=${value}`);
  return ['-object', [shared ? 'memory-backend-memfd' : 'memory-backend-ram', ...listed].join(',')];
};

/** What is asked of the memory of a machine; nothing where QEMU makes it by itself, as machines always had it. */
export const mainMemoryArguments = ({ memoryBytes, hardware }: VmSpec): string[] =>
  hardware?.sharedMemory === true
    ? [...memoryBackend(mainMemory, memoryBytes, hardware), '-machine', `memory-backend=${mainMemory}`]
    : [];
