import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';

const MiB = 1024 * 1024;

/** In requests and answers: the most that an instance may get while it runs. Null: what its flavor has. */
export const maximum = {
  /** Not fewer than its flavor has. */
  maxVcpus: z.number().int().min(1).max(255).nullable().default(null),
  /** Not less than its flavor has. */
  maxMemoryBytes: field.bytes
    .min(64 * MiB)
    .max(512 * 1024 * MiB)
    .multipleOf(MiB)
    .nullable()
    .default(null),
};
