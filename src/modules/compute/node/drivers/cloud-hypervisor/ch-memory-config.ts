import { z } from 'zod';

/** The memory of a VM's configuration, in bytes. */
export const chMemoryConfig = z
  .object({
    size: z.number().int(),
    hotplug_size: z.number().int().nullish(),
    zones: z.array(z.object({ size: z.number().int() })).nullish(),
  })
  // By zones it has no size of its own.
  .transform(({ zones, ...memory }) => ({
    ...memory,
    size: memory.size + (zones ?? []).reduce((sum, zone) => sum + zone.size, 0),
  }));
