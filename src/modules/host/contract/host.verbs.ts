import { z } from 'zod';
import { type AnyVerb, defineVerb } from '../../../core/m2m/verbs/verb';

/** Has every part of the inventory try anew what it tries, whatever came of it before, and tells what the host has now. */
export const hostTest = defineVerb('host.test', {
  args: z.object({}),
  result: z.record(z.string(), z.unknown()),
  timeoutMs: 15_000,
  long: true,
});

export const hostVerbs: readonly AnyVerb[] = [hostTest];
