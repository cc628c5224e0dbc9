import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { openSet } from '../../../core/m2m/verbs/open-set';
import { type AnyVerb, defineVerb } from '../../../core/m2m/verbs/verb';

const mac = z.string().regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);

/** One NIC of an instance on this host. */
const portDocument = z.object({
  id: field.id,
  instanceId: field.id,
  mac,
  address: z.ipv4(),
  hostname: z.string(),
  /** Which NIC of its instance, from 0: the order in which the user gave them, everywhere. */
  position: z.number().int().nonnegative().default(0),
  /**
   * Whether the guest's default route goes this way, where the network has a way out; at most one port of an instance.
   */
  defaultRoute: z.boolean().default(true),
});

const networkDocument = z.object({
  id: field.id,
  subnet: z.cidrv4(),
  gateway: z.ipv4(),
  /** MAC of the gateway and of DHCP and metadata, the same on every host. */
  gatewayMac: mac,
  dns: z.array(z.ipv4()),
  domain: z.string(),
  mtu: z.number().int(),
  nat: z.boolean(),
  ports: z.array(portDocument),
});

/**
 * What guests of all networks may not reach, and what they may all the same; see `guestEgress` of the configuration.
 */
const egressDocument = z.object({
  allow: z.array(z.cidrv4()).default([]),
  deny: z.array(z.cidrv4()).default([]),
  /** Addresses or names of the cloud's hosts. */
  hosts: z.array(z.string().max(253)).default([]),
});

/** All networking that a host shall have; what is not in it is removed. */
const hostNetworkDocument = z.object({
  generation: z.number().int().nonnegative(),
  networks: z.array(networkDocument),
  egress: egressDocument.prefault({}),
});

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
  timeoutMs: 60_000,
});

export type PortDocument = z.infer<typeof portDocument>;
export type NetworkDocument = z.infer<typeof networkDocument>;
export type EgressDocument = z.infer<typeof egressDocument>;

/** No exceptions, no hosts but this one. */
export const plainEgress: EgressDocument = { allow: [], deny: [], hosts: [] };
export type HostNetworkDocument = z.infer<typeof hostNetworkDocument>;
export type NetworkApplyResult = z.infer<typeof networkApply.result>;

export const networkVerbs: readonly AnyVerb[] = [networkApply];
