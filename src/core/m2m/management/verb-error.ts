import { z } from 'zod';

/** How a node answers that it refuses, or failed. */
export const verbError = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    permanent: z.boolean(),
    extra: z.record(z.string(), z.unknown()),
    detail: z.string().optional(),
  }),
});
