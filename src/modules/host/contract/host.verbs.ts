import { z } from 'zod';
import { defineVerb } from '../../../core/m2m/verbs/verb';
import { vmmInventory } from './host.api';

/** Tries the host's virtual machine monitors anew, whatever came of earlier trials, and tells what they are able to. */
export const hostTest = defineVerb('host.test', {
  args: z.object({}),
  result: z.object({ vmms: z.array(vmmInventory) }),
  timeoutMs: 15_000,
  long: true,
});
