import { z } from 'zod';

/**
 * A word of a set that grows with releases. One that this build does not know is taken for `other`, so that it never
 * makes a reader refuse the whole message.
 */
export const openSet = <const K extends string, const O extends string>(
  known: readonly K[],
  other: O,
): z.ZodType<K | O, string> =>
  z
    .string()
    .max(63)
    .transform((word) => known.find((one) => one === word) ?? other);
