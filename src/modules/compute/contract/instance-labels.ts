import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';

/** A word by which instances are found: no comma, which separates several in forms and tables. */
const tag = field.displayName.refine((text) => !text.includes(','), {
  error: 'no comma',
  params: { code: 'comma' },
});

/** At most 50, as of an OpenStack server. Kept in order, each once. */
export const tags = z
  .array(tag)
  .max(50)
  .transform((all) => [...new Set(all)].sort());

/** As guests read it under `meta`: at most 128 entries, as of an OpenStack server. */
export const metadata = z
  .record(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,254}$/, {
      error: 'letters, digits and _.:- of which the first is a letter or digit, at most 255',
    }),
    field.description,
  )
  .refine((all) => Object.keys(all).length <= 128, { error: 'at most 128 entries', params: { code: 'too_long' } });

/** Why something is locked, in a line. */
export const lockRequest = z.strictObject({ reason: field.description.default('') }).default({ reason: '' });
export const lock = z.object({ reason: z.string(), by: z.string(), at: field.timestamp }).nullable();
