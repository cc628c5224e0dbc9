import { z } from 'zod';
import type { RecordForm } from '../../../core/host/records/record-form';
import { type HostNetworkDocument, ofFirstRevision } from '../contract/host-document';

const egress = z
  .object({
    allow: z.array(z.string()).default([]),
    deny: z.array(z.string()).default([]),
    hosts: z.array(z.string()).default([]),
  })
  .prefault({});
const nic = z.object({
  id: z.string(),
  instanceId: z.string(),
  mac: z.string(),
  hostname: z.string(),
  position: z.number().int().default(0),
  defaultRoute: z.boolean().default(true),
});
const segment = z.object({ id: z.string(), gatewayMac: z.string(), domain: z.string(), mtu: z.number().int() });

const overlay = z.object({
  vni: z.number().int(),
  remotes: z.array(z.object({ mac: z.string(), addresses: z.array(z.string()), host: z.string() })),
});
const groups = z.array(
  z.object({
    id: z.string(),
    rules: z.array(
      z.object({
        direction: z.enum(['ingress', 'egress']),
        ethertype: z.enum(['ipv4', 'ipv6']),
        protocol: z.number().int().nullable(),
        ports: z.object({ min: z.number().int(), max: z.number().int() }).nullable(),
        icmp: z.object({ type: z.number().int(), code: z.number().int().nullable() }).nullable(),
        cidr: z.string().nullable(),
        group: z.string().nullable(),
      }),
    ),
    members: z.array(z.object({ networkId: z.string(), addresses: z.array(z.string()) })),
  }),
);

/** The document that the host was last given, as it lies on the disk. */
const documentRecord = z.object({
  generation: z.number().int(),
  networks: z.array(
    segment.extend({
      subnets: z.array(z.object({ id: z.string(), cidr: z.string(), gateway: z.string(), dns: z.array(z.string()) })),
      ports: z.array(
        nic.extend({
          addresses: z.array(z.object({ subnetId: z.string(), address: z.string() })),
          securityGroups: z.array(z.string()).optional(),
        }),
      ),
      overlay: overlay.optional(),
    }),
  ),
  routers: z.array(
    z.object({
      id: z.string(),
      snat: z.boolean(),
      interfaces: z.array(z.object({ networkId: z.string(), subnetId: z.string() })),
    }),
  ),
  egress,
  underlay: z.object({ address: z.string(), port: z.number().int() }).optional(),
  securityGroups: groups.optional(),
});

/** Of when a network was a subnet and a router too. */
const first = z.object({
  generation: z.number().int(),
  networks: z.array(
    segment.extend({
      subnet: z.string(),
      gateway: z.string(),
      dns: z.array(z.string()),
      nat: z.boolean(),
      ports: z.array(nic.extend({ address: z.string() })),
    }),
  ),
  egress,
});

export const documentForm: RecordForm<HostNetworkDocument> = {
  name: 'network document',
  // 3: with the groups of ports, whom an agent of before would take for ports that hear all of their network.
  version: 3,
  schema: documentRecord,
  upgrades: { 1: (old) => ({ ...ofFirstRevision(first.parse(old)) }), 2: (old) => old },
};
