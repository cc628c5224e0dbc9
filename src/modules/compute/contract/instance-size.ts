import type { Refusal } from './instance-states';

const MiB = 1024 * 1024;
/** Bytes by which memory comes and goes while an instance runs: one memory block of a guest. */
const memoryStep = 128 * MiB;

export interface Size {
  vcpus: number;
  memoryBytes: number;
  diskBytes: number;
}
interface Maximum {
  maxVcpus: number | null;
  maxMemoryBytes: number | null;
}

/** `why`: in words. */
export const needsStop = (why: string): Refusal => ({
  code: 'resize_needs_stop',
  detail: `It runs, and ${why}: stop it first, then resize and start it.`,
});

/**
 * Why an instance that runs cannot get the size before it is stopped, as far as is known without its host; undefined when
 * nothing speaks against it.
 */
export const runningResizeRefusal = (now: Size & Maximum, size: Size): Refusal | undefined => {
  const { maxVcpus, maxMemoryBytes } = now;
  if (maxVcpus === null && maxMemoryBytes === null) return needsStop('was created without a maximum to grow to');
  const vcpus = Math.max(now.vcpus, maxVcpus ?? 0);
  if (size.vcpus > vcpus) return needsStop(`may get ${vcpus} vCPUs at most while it does`);
  const memory = Math.max(now.memoryBytes, maxMemoryBytes ?? 0);
  if (size.memoryBytes > memory) return needsStop(`may get ${memory / MiB} MiB of memory at most while it does`);
  if ((size.memoryBytes - now.memoryBytes) % memoryStep !== 0)
    return needsStop('its memory comes and goes by 128 MiB while it does');
  if (size.diskBytes > now.diskBytes) return needsStop('its disk grows only while it does not');
  return undefined;
};
