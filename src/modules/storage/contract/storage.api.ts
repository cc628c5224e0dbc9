import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';

const volumeStates = ['creating', 'in-use', 'deleting', 'error'] as const;
export const volume = z
  .object({
    id: field.id,
    projectId: field.id,
    name: z.string(),
    state: z.enum(volumeStates),
    bytes: field.bytes,
    role: z.enum(['root']),
    pool: z.string(),
    /** Null for those who may not see hosts. */
    host: z.object({ id: field.id, name: z.string() }).nullable(),
    instanceId: field.id.nullable(),
    imageId: field.id.nullable(),
    createdAt: field.timestamp,
  })
  .meta({ id: 'Volume' });
export type Volume = z.infer<typeof volume>;
