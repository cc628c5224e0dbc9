import { balloonTooLarge, noBalloon, type VmMemory } from '../vmm-driver';
import type { QmpClient } from './qmp-client';
import { QmpError } from './qmp-error';
import { baseMemory, qemuSize } from './qemu-resize';

/** Its id among QEMU's devices. */
const balloonId = 'balloon';
/** Seconds between what a guest says of its memory. */
const statsEvery = 10;

/**
 * In a slot of its own, as all that some machines have and others have not. What its guest frees goes back to the host, and
 * what the balloon holds its guest takes again before it ends a program of its own for want of memory.
 */
export const balloonArguments = [
  '-device',
  JSON.stringify({
    driver: 'virtio-balloon-pci',
    id: balloonId,
    bus: 'pcie.0',
    addr: '0x19',
    'deflate-on-oom': true,
    'free-page-reporting': true,
    'guest-stats-polling-interval': statsEvery,
  }),
] as const;

/** A guest's own figures, in bytes; one that it does not tell is the largest of 64 bits. */
interface GuestStats {
  /** Seconds since 1970; 0: nothing was told yet. */
  'last-update': number;
  stats: Record<string, number>;
}

/** What the guest keeps of the memory that the machine was started with. QEMU does not count what came later. */
const keptOfBase = async (qmp: QmpClient): Promise<number> => {
  const { actual } = await qmp.execute<{ actual: number }>('query-balloon').catch((error: unknown) => {
    throw error instanceof QmpError && error.errorClass === 'DeviceNotActive' ? noBalloon() : error;
  });
  return actual;
};

const told = async (qmp: QmpClient): Promise<VmMemory['guest']> => {
  const found = await qmp.execute<GuestStats>('qom-get', {
    path: `/machine/peripheral/${balloonId}`,
    property: 'guest-stats',
  });
  const figure = (name: string): number => found.stats[`stat-${name}-memory`] ?? Number.POSITIVE_INFINITY;
  const [totalBytes, freeBytes, availableBytes] = [figure('total'), figure('free'), figure('available')];
  if (found['last-update'] === 0 || ![totalBytes, freeBytes, availableBytes].every(Number.isSafeInteger)) return null;
  return { totalBytes, freeBytes, availableBytes, at: new Date(found['last-update'] * 1000).toISOString() };
};

/** Throws `no_balloon`. */
export const qemuMemory = async (qmp: QmpClient): Promise<VmMemory> => {
  const kept = await keptOfBase(qmp);
  const { memoryBytes } = await qemuSize(qmp);
  return { bytes: memoryBytes, heldBytes: memoryBytes - ((await baseMemory(qmp)) - kept), guest: await told(qmp) };
};

/** Throws `no_balloon`, `balloon_too_large`. */
export const setQemuBalloon = async (qmp: QmpClient, bytes: number): Promise<void> => {
  await keptOfBase(qmp);
  const { memoryBytes } = await qemuSize(qmp);
  const base = await baseMemory(qmp);
  const inflated = Math.max(0, memoryBytes - bytes);
  if (inflated >= base) throw balloonTooLarge(inflated);
  await qmp.execute('balloon', { value: base - inflated });
};
