import { z } from 'zod';
import { parseCpuList } from '../../../core/host/cpus/cpu-list';

/** Section `modules.host`. */
export const hostConfigSchema = z.strictObject({
  /** Vcpus that may be handed out per hardware thread. */
  cpuOvercommit: z.number().min(1).max(64).default(4),
  /** Memory kept for the host itself, in bytes; at most a quarter of it. */
  memoryReserveBytes: z.number().int().min(0).default(1_073_741_824),
  /** A host that was not heard of for this long is `unknown`. Milliseconds. */
  silentAfterMs: z.number().int().min(100).default(15_000),
  /** How often silent hosts are looked for. Milliseconds. */
  sweepMs: z.number().int().min(20).default(1_000),
  /** A clock that is off by more than this is warned of. Milliseconds. */
  clockSkewMs: z.number().int().min(100).default(2_000),
  /** How often an agent looks for what lies on its host and belongs to nothing. Seconds. */
  leftoversEverySeconds: z.number().int().min(1).max(86_400).default(300),
  /**
   * CPUs of this host that are given to instances that ask for CPUs of their own, as `2-15,18`, and to nobody else:
   * other instances run on the others. Empty: none.
   */
  dedicatedCpus: z
    .string()
    .max(4096)
    .refine((text) => parseCpuList(text) !== null, { error: 'is no list of CPUs such as 2-15,18' })
    .default(''),
});

export type HostConfig = z.output<typeof hostConfigSchema>;
