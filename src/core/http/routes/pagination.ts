import { z } from 'zod';
import { queryInteger, ref } from './fields';

/** Part of a name, or the beginning of an id or of an address, as the user types it. */
const search = z
  .string()
  .max(100)
  .refine((s) => !/[\p{Cc}\p{Cs}]/u.test(s), {
    error: 'control characters are not allowed',
    params: { code: 'control_characters' },
  })
  .transform((s) => s.trim() || undefined)
  .meta({
    description:
      'Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins.',
  });

/** Query members of every list: keyset pagination, newest first unless the list says otherwise. */
export const pageQuery = z.strictObject({
  limit: queryInteger(1, 500).default(50),
  /** Opaque; taken from the previous page's `next`. */
  cursor: z.string().max(1024).optional(),
  project: ref.optional(),
  q: search.optional(),
});

/** What a list's service and repository need of its query. */
export type PageRequest = Pick<z.output<typeof pageQuery>, 'limit' | 'cursor' | 'q'>;

export interface Page<T> {
  items: T[];
  /** Cursor of the following page; null on the last one. */
  next: string | null;
}

/** Response schema of a list. */
export const pageOf = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), next: z.string().nullable() });
