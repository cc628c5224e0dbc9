import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';

/** Section `network` of a host's heartbeat. */
export const observedNetwork = z.object({
  /** Of the document in force; -1 when the host never had one. */
  generation: z.number().int(),
  /** Ports of it that do not work, at most 100. */
  failed: z.array(z.object({ id: field.id, message: z.string().max(1000) })).max(100),
  /**
   * Names of the cloud's machines whose address the host does not find, at most 20; while there are any, its guests
   * have no way out. Absent from older agents.
   */
  unknownMachines: z.array(z.string().max(253)).max(20).optional(),
  /**
   * Where other hosts reach it, and the MTU there in bytes; null: nowhere. Absent from older agents, and where networks do
   * not cross hosts.
   */
  underlay: z.object({ address: z.ipv4(), mtu: z.number().int() }).nullable().optional(),
});
export type ObservedNetwork = z.output<typeof observedNetwork>;
