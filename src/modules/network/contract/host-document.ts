import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { NotUnderstood } from '../../../core/m2m/verbs/not-understood';
import type { OlderForm } from '../../../core/m2m/verbs/verb';
import { hostUnderlay, networkOverlay } from './overlay-document';
import { securityGroupDocument } from './security-group.document';

const mac = z.string().regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);

/** What is about a NIC whatever its addresses are. */
const nic = z.object({
  id: field.id,
  instanceId: field.id,
  mac,
  hostname: z.string(),
  /** Which NIC of its instance, from 0: the order in which the user gave them, everywhere. */
  position: z.number().int().nonnegative().default(0),
  /**
   * Whether the guest's default route goes this way, where the network has a way out; at most one port of an instance.
   */
  defaultRoute: z.boolean().default(true),
});

/** One NIC of an instance on this host. The guest gets its first address by DHCP; the others are its own too. */
const portDocument = nic.extend({
  addresses: z.array(z.object({ subnetId: field.id, address: z.ipv4() })).min(1),
  /**
   * Its groups: what their rules do not allow does not pass. Absent, as from management of before groups: it may send
   * anything, and hears its own network.
   */
  securityGroups: z.array(field.id).optional(),
});

const subnetDocument = z.object({ id: field.id, cidr: z.cidrv4(), gateway: z.ipv4(), dns: z.array(z.ipv4()) });

/** What is about a network whatever its subnets are. */
const segment = z.object({
  id: field.id,
  /** MAC of the gateways and of DHCP and metadata, the same on every host. */
  gatewayMac: mac,
  domain: z.string(),
  mtu: z.number().int(),
});
const networkDocument = segment.extend({
  subnets: z.array(subnetDocument).min(1),
  ports: z.array(portDocument),
  /** Absent: it does not cross to other hosts. */
  overlay: networkOverlay.optional(),
});

/** Joins subnets by their gateways; `snat`: their guests reach the outside by its source NAT. A network is on one at most. */
const routerDocument = z.object({
  id: field.id,
  snat: z.boolean(),
  interfaces: z.array(z.object({ networkId: field.id, subnetId: field.id })).min(1),
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

const about = z.object({ generation: z.number().int().nonnegative(), egress: egressDocument.prefault({}) });

/** All networking that a host shall have; what is not in it is removed. */
const present = about.extend({
  networks: z.array(networkDocument),
  routers: z.array(routerDocument),
  /** Absent: no network crosses to this host. */
  underlay: hostUnderlay.optional(),
  /** Those of its ports, and those whose members their rules name. */
  securityGroups: z.array(securityGroupDocument).optional(),
});
export type HostNetworkDocument = z.output<typeof present>;
export type PortDocument = z.output<typeof portDocument>;
export type SubnetDocument = z.output<typeof subnetDocument>;
export type NetworkDocument = z.output<typeof networkDocument>;
export type RouterDocument = z.output<typeof routerDocument>;
export type EgressDocument = z.output<typeof egressDocument>;

/** As it was when a network was a subnet and a router too. */
const first = about.extend({
  networks: z.array(
    segment.extend({
      subnet: z.cidrv4(),
      gateway: z.ipv4(),
      dns: z.array(z.ipv4()),
      nat: z.boolean(),
      ports: z.array(nic.extend({ address: z.ipv4() })),
    }),
  ),
});

/** A document of the first revision in the present form: a network's subnet and its router are called as the network is. */
export const ofFirstRevision = (document: z.output<typeof first>): HostNetworkDocument => ({
  generation: document.generation,
  egress: document.egress,
  networks: document.networks.map(({ subnet: cidr, gateway, dns, nat: _nat, ports, ...network }) => ({
    ...network,
    subnets: [{ id: network.id, cidr, gateway, dns }],
    ports: ports.map(({ address, ...port }) => ({ ...port, addresses: [{ subnetId: network.id, address }] })),
  })),
  routers: document.networks
    .filter(({ nat }) => nat)
    .map(({ id }) => ({ id, snat: true, interfaces: [{ networkId: id, subnetId: id }] })),
});

/** The document of either revision, as management of before may send it too. */
export const hostNetworkDocument: z.ZodType<HostNetworkDocument> = z.union([present, first.transform(ofFirstRevision)]);

const one = <T>(list: readonly T[], what: string): T => {
  const [only, ...more] = list;
  if (only === undefined || more.length > 0) throw new NotUnderstood(what);
  return only;
};

/**
 * For an agent that knows a network as one subnet, whose way out is its own. It reports no underlay, and networks do not
 * cross to it.
 */
export const toFirstRevision: OlderForm = (args) => {
  const { networks, routers, underlay: _underlay, ...rest } = hostNetworkDocument.parse(args);
  if (routers.some(({ snat, interfaces }) => !snat || interfaces.length > 1))
    throw new NotUnderstood('routers between subnets');
  const routed = new Set(routers.flatMap(({ interfaces }) => interfaces.map(({ networkId }) => networkId)));
  return {
    ...rest,
    networks: networks.map(({ subnets, ports, overlay: _overlay, ...network }) => {
      const { cidr, gateway, dns } = one(subnets, 'networks of several subnets');
      return {
        ...network,
        subnet: cidr,
        gateway,
        dns,
        nat: routed.has(network.id),
        ports: ports.map(({ addresses, ...port }) => ({
          ...port,
          address: one(addresses, 'ports with several addresses').address,
        })),
      };
    }),
  };
};

/** No exceptions, no hosts but this one. */
export const plainEgress: EgressDocument = { allow: [], deny: [], hosts: [] };

/** The router of each network that has one, by the network's id. */
export const routersByNetwork = ({ routers }: Pick<HostNetworkDocument, 'routers'>): Map<string, RouterDocument> =>
  new Map(routers.flatMap((router) => router.interfaces.map(({ networkId }) => [networkId, router] as const)));
