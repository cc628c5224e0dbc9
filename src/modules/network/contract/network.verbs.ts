import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { openSet } from '../../../core/m2m/verbs/open-set';
import { type AnyVerb, defineVerb } from '../../../core/m2m/verbs/verb';
import { hostNetworkDocument, toFirstRevision } from './host-document';
import { withoutSecurityGroups } from './host-document-older';

/**
 * Converges the host to the document. An older generation than the applied one is answered `superseded` and changes
 * nothing.
 */
export const networkApply = defineVerb('network.apply', {
  args: hostNetworkDocument,
  result: z.object({
    generation: z.number().int(),
    superseded: z.boolean(),
    ports: z.array(z.object({ id: field.id, state: openSet(['active'], 'error'), message: z.string() })),
  }),
  revision: 3,
  older: { 2: toFirstRevision, 3: withoutSecurityGroups },
  timeoutMs: 60_000,
});

export type NetworkApplyResult = z.infer<typeof networkApply.result>;

export const networkVerbs: readonly AnyVerb[] = [networkApply];
