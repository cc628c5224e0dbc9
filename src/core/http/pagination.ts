import { z } from 'zod';

/** Query members of every list: keyset pagination, newest first unless the list says otherwise. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  /** Opaque; taken from the previous page's `next`. */
  cursor: z.string().max(512).optional(),
  project: z.string().max(100).optional(),
});

export interface Page<T> {
  items: T[];
  /** Cursor of the following page; null on the last one. */
  next: string | null;
}

/** Response schema of a list. */
export const pageOf = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), next: z.string().nullable() });
