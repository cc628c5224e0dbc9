import { resizeNeedsStop, type VmSize, type VmSpec } from '../vmm-driver';

/** Bytes. What both VMMs and Linux take at a time: one memory block of a guest. */
const memoryStep = 128 * 1024 * 1024;

/** Bytes of memory that a machine of this specification can get while it runs, in whole steps. */
export const roomToGrow = ({ memoryBytes, max }: Pick<VmSpec, 'memoryBytes' | 'max'>): number =>
  Math.max(0, Math.floor(((max?.memoryBytes ?? 0) - memoryBytes) / memoryStep)) * memoryStep;

/** Throws `resize_needs_stop` for more vCPUs than the machine was started with places for. */
export const checkVcpus = (vcpus: number, most: number): void => {
  if (vcpus > most)
    throw resizeNeedsStop(`its machine was started with places for ${most} vCPUs, and ${vcpus} are asked for`);
};

/** Throws `resize_needs_stop` for a difference that is no whole number of steps. */
export const checkMemoryStep = (now: VmSize, bytes: number): void => {
  if ((bytes - now.memoryBytes) % memoryStep !== 0)
    throw resizeNeedsStop('memory comes and goes by 128 MiB, and the difference is no multiple of it');
};
