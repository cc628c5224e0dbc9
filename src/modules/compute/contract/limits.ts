import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import type { VmmCapability } from './vmm-capabilities';

/** Bytes a second: the least that a guest still boots with, and more than any disk or card of today moves. */
const rate = field.bytes.min(128 * 1024).max(12_500_000_000);
/** What was not used for so many seconds may be used at once. */
const burstSeconds = z.number().int().min(1).max(60);

const disk = z.object({
  /** Requests a second. */
  iops: z.number().int().min(10).max(10_000_000).nullable(),
  bytesPerSecond: rate.nullable(),
  burstSeconds,
});
const nic = z.object({ bytesPerSecond: rate, burstSeconds });

/**
 * How fast the disks of an instance are, all together, reads and writes; and each of its cards, each direction by itself.
 * Null: as fast as they go.
 */
export const limitsShown = z.object({ disk: disk.nullable(), nic: nic.nullable() });
export type Limits = z.infer<typeof limitsShown>;
export type DiskLimits = NonNullable<Limits['disk']>;
export type NicLimits = NonNullable<Limits['nic']>;

export const noLimits: Limits = { disk: null, nic: null };

const burstInput = burstSeconds.default(1);
/** In requests: nothing is limited when missing. */
export const limitsInput = z
  .strictObject({
    disk: z
      .strictObject({
        iops: disk.shape.iops.default(null),
        bytesPerSecond: disk.shape.bytesPerSecond.default(null),
        burstSeconds: burstInput,
      })
      .refine(({ iops, bytesPerSecond }) => iops !== null || bytesPerSecond !== null, {
        error: 'limits requests, bytes or both',
      })
      .nullable()
      .default(null),
    nic: z.strictObject({ bytesPerSecond: rate, burstSeconds: burstInput }).nullable().default(null),
  })
  .default(noLimits);

/** Those that are set; nothing is said of the others. */
export const limitsOf = ({ limits }: { limits?: Limits | undefined }): { limits?: Limits } =>
  limits === undefined || (limits.disk === null && limits.nic === null) ? {} : { limits };

/** The capabilities that a VMM needs to keep to them. */
export const capabilitiesForLimits = ({ disk, nic }: Limits): VmmCapability[] => [
  ...(disk === null ? [] : (['disk-limits'] as const)),
  ...(nic === null ? [] : (['nic-limits'] as const)),
];

/** What a bucket holds that fills at so much a second. */
export const bucketOf = (perSecond: number, { burstSeconds }: { burstSeconds: number }): number =>
  perSecond * burstSeconds;
