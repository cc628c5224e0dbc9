const MiB = 1024 * 1024;

/**
 * Bytes that a guest keeps in any case: a kernel needs memory to know of memory, and one that has next to none ends its
 * programs, or itself.
 */
export const leastMemory = (memoryBytes: number): number =>
  Math.min(memoryBytes, Math.max(64 * MiB, Math.ceil(memoryBytes / 4 / MiB) * MiB));
