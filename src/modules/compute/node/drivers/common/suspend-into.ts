import type { SuspendedMemory } from './suspended-memory';

/** What differs between VMMs in a suspend. */
interface Suspending {
  pause: () => Promise<void>;
  /** Writes memory and devices, at most so many bytes. */
  keep: (memory: SuspendedMemory, limit: number) => Promise<void>;
  /** Takes the pause back. */
  goOn: () => Promise<void>;
  end: () => Promise<void>;
}

/**
 * Suspends a VM as every VMM does: it stands still, what it knows is kept and marked as whole, then it ends. What fails
 * before the mark is taken back: the VM goes on, and nothing is kept.
 */
export const suspendInto = async (memory: SuspendedMemory, memoryBytes: number, vm: Suspending): Promise<void> => {
  const limit = await memory.open(memoryBytes);
  try {
    await vm.pause();
    await vm.keep(memory, limit);
    await memory.complete();
  } catch (error) {
    // Whatever becomes of the VM, the first failure is the one that is told.
    await vm.goOn().catch(() => undefined);
    await memory.empty();
    throw error;
  }
  await vm.end();
};
