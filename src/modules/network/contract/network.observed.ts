import { z } from 'zod';
import * as field from '../../../core/http/fields';

/** Section `network` of a host's heartbeat. */
export const observedNetwork = z.object({
  /** Of the document in force; -1 when the host never had one. */
  generation: z.number().int(),
  /** Ports of it that do not work, at most 100. */
  failed: z.array(z.object({ id: field.id, message: z.string().max(1000) })).max(100),
});
export type ObservedNetwork = z.output<typeof observedNetwork>;
