import { z } from 'zod';

/** Section `records` of a host's heartbeat: files of its agent that it cannot read. */
export const observedRecordProblems = z.object({
  count: z.number().int().nonnegative(),
  /** The first of them. */
  problems: z
    .array(z.object({ file: z.string().max(1000), kind: z.string().max(63), reason: z.string().max(1000) }))
    .max(20),
});
export type ObservedRecordProblems = z.output<typeof observedRecordProblems>;
