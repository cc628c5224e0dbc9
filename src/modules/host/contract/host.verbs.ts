import { z } from 'zod';
import { type AnyVerb, defineVerb } from '../../../core/m2m/verbs/verb';
import { confirmedLeftover, leftoverListing, removalLimit } from './leftover';

/** Has every part of the inventory try anew what it tries, whatever came of it before, and tells what the host has now. */
export const hostTest = defineVerb('host.test', {
  args: z.object({}),
  result: z.record(z.string(), z.unknown()),
  timeoutMs: 15_000,
  long: true,
});

/** What lies on the host and belongs to nothing; `only`: of these alone, by kind and name. */
export const hostLeftovers = defineVerb('host.leftovers', {
  args: z.object({
    only: z
      .array(confirmedLeftover.omit({ mark: true }))
      .max(removalLimit)
      .optional(),
  }),
  result: leftoverListing,
  timeoutMs: 20_000,
  mutating: false,
});

/**
 * These are gone, and were nothing's until then. Those that are gone already are passed over. Refused are
 * `leftover_changed` (something else is there by now) and `leftover_known` (it belongs to something), before anything
 * is touched where that can be known.
 */
export const hostRemoveLeftovers = defineVerb('host.remove-leftovers', {
  args: z.object({ leftovers: z.array(confirmedLeftover).min(1).max(removalLimit) }),
  /** How many of them were there. */
  result: z.object({ removed: z.number().int() }),
  timeoutMs: 30_000,
  long: true,
});

export const hostVerbs: readonly AnyVerb[] = [hostTest, hostLeftovers, hostRemoveLeftovers];
