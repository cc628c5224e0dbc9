import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { pageQuery } from '../../../core/http/routes/pagination';

const mebibyte = 1024 * 1024;
/** The largest volume, in bytes: 64 TiB. */
const maxVolumeBytes = 64 * 1024 ** 4;

const volumeStates = ['creating', 'available', 'attaching', 'in-use', 'detaching', 'deleting', 'error'] as const;
const volumeRoles = ['root', 'data', 'rescue'] as const;

export const createVolume = z.strictObject({
  name: field.displayName,
  bytes: field.bytes.min(mebibyte).max(maxVolumeBytes).multipleOf(mebibyte),
  /** The installation's default when missing. */
  pool: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,30}$/)
    .optional(),
  /** Id or name of an instance of the project, on whose host the volume is made: it can be attached there. */
  instance: field.ref.optional(),
  protected: z.boolean().default(false),
});
export const updateVolume = z.strictObject({
  name: field.displayName.optional(),
  /** Deleting it is refused. */
  protected: z.boolean().optional(),
});
export const volume = z
  .object({
    id: field.id,
    projectId: field.id,
    name: z.string(),
    state: z.enum(volumeStates),
    bytes: field.bytes,
    /**
     * `root`: lives and dies with its instance. `data`: stands for itself. `rescue`: temporary, what an instance in
     * rescue boots from.
     */
    role: z.enum(volumeRoles),
    pool: z.string(),
    /** Null for those who may not see hosts. */
    host: z.object({ id: field.id, name: z.string() }).nullable(),
    /** The instance that has it. */
    instanceId: field.id.nullable(),
    /** Of data volumes. `position`: which disk of the instance, from 1, after the root disk. */
    attachments: z.array(z.object({ instanceId: field.id, position: z.number().int(), readonly: z.boolean() })),
    /** What it was made of. */
    imageId: field.id.nullable(),
    protected: z.boolean(),
    createdAt: field.timestamp,
  })
  .meta({ id: 'Volume' });
export const volumeWithTask = z.object({ volume, taskId: field.id });
/** `instance` is an id. */
export const volumeListQuery = pageQuery.extend({
  instance: field.id.optional(),
  role: z.enum(volumeRoles).optional(),
});
export type Volume = z.infer<typeof volume>;
