import { z } from 'zod';

/** Section `modules.storage`. */
export const storageConfigSchema = z.strictObject({
  /** Node half: `local` keeps volumes as files; `simulated` keeps their names only (scale tests). */
  driver: z.enum(['local', 'simulated']).default('local'),
  /** Node half: pools of this host by name. An empty path is a folder under the state directory. */
  pools: z
    .array(z.strictObject({ name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,30}$/), path: z.string().default('') }))
    .min(1)
    .max(32)
    .refine((pools) => new Set(pools.map((p) => p.name)).size === pools.length, { error: 'pool names must differ' })
    .default([{ name: 'default', path: '' }]),
  /** Management half: the pool that root volumes are made in. */
  rootPool: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,30}$/)
    .default('default'),
  /** Size that a simulated pool claims to have, in bytes. */
  simulatedBytes: z
    .number()
    .int()
    .min(0)
    .default(10 * 1024 ** 4),
});

export type StorageConfig = z.output<typeof storageConfigSchema>;
