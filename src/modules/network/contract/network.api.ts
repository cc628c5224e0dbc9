import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { pageQuery } from '../../../core/http/routes/pagination';

const dns = z.array(z.ipv4()).max(3);

/** IPv4 in CIDR form with host bits zero; /8 to /29 (a /30 has one usable address beside the gateway). */
const cidr = z.cidrv4();

/** A network, and with `subnet` its first one; what else is said is of that. */
export const createNetwork = z
  .strictObject({
    name: field.displayName,
    description: field.description.default(''),
    subnet: cidr.optional(),
    /** First usable address unless given. */
    gateway: z.ipv4().optional(),
    dns: dns.optional(),
    /** A router with source NAT to the outside. Default: yes, with a subnet. */
    nat: z.boolean().optional(),
  })
  .superRefine((asked, check) => {
    if (asked.subnet !== undefined) return;
    for (const path of ['gateway', 'dns', 'nat'] as const)
      if (asked[path] !== undefined)
        check.addIssue({
          code: 'custom',
          path: [path],
          message: 'goes with a subnet only',
          params: { code: 'no_subnet' },
        });
  });
export const updateNetwork = z.strictObject({
  name: field.displayName.optional(),
  description: field.description.optional(),
});

const addresses = z.object({ total: z.number().int(), used: z.number().int() });
const subnetFacts = z.object({
  id: field.id,
  name: z.string(),
  cidr: z.string(),
  gateway: z.string(),
  dns: z.array(z.string()),
  addresses,
});
const routerOf = z.object({
  id: field.id,
  name: z.string(),
  /** Its subnets reach the outside. */
  snat: z.boolean(),
});

export const network = z
  .object({
    id: field.id,
    projectId: field.id,
    name: z.string(),
    description: z.string(),
    mtu: z.number().int(),
    /** In the order in which addresses are taken from them. */
    subnets: z.array(subnetFacts),
    /** The one that its subnets, or some of them, are on. */
    router: routerOf.nullable(),
    /**
     * Exceptions to what guests reach beyond the network, in CIDR form, by the installation's configuration. Null without
     * a way out: nothing is reached.
     */
    guestEgress: z.object({ allow: z.array(z.string()), deny: z.array(z.string()) }).nullable(),
    /** Of all its subnets. */
    addresses,
    createdAt: field.timestamp,
  })
  .meta({ id: 'Network' });
export const port = z
  .object({
    id: field.id,
    projectId: field.id,
    networkId: field.id,
    network: z.string(),
    instanceId: field.id.nullable(),
    /** Which card of its instance, from 0. */
    position: z.number().int(),
    mac: z.string(),
    address: z.string(),
    securityGroups: z.array(z.object({ id: field.id, name: z.string() })),
    state: z.enum(['down', 'active', 'error']),
    message: z.string(),
  })
  .meta({ id: 'Port' });
export const networkListQuery = pageQuery.extend({ name: z.string().max(63).optional() });
/** `network`, `instance` and `securityGroup` are ids. */
export const portListQuery = pageQuery.extend({
  network: field.id.optional(),
  instance: field.id.optional(),
  securityGroup: field.id.optional(),
});
export type Network = z.infer<typeof network>;
export type Port = z.infer<typeof port>;
