import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { pageQuery } from '../../../core/http/routes/pagination';

/**
 * IPv4 in CIDR form with host bits zero; /8 to /29 (a /30 has one usable address beside the gateway, so /29 is the
 * smallest).
 */
export const createNetwork = z.strictObject({
  name: field.displayName,
  description: field.description.default(''),
  subnet: z.cidrv4(),
  /** First usable address unless given. */
  gateway: z.ipv4().optional(),
  dns: z.array(z.ipv4()).max(3).default([]),
  /** A router with source NAT to the outside. */
  nat: z.boolean().default(true),
});
export const updateNetwork = z.strictObject({
  name: field.displayName.optional(),
  description: field.description.optional(),
  dns: z.array(z.ipv4()).max(3).optional(),
});
export const network = z
  .object({
    id: field.id,
    projectId: field.id,
    name: z.string(),
    description: z.string(),
    subnet: z.string(),
    gateway: z.string(),
    dns: z.array(z.string()),
    nat: z.boolean(),
    mtu: z.number().int(),
    /**
     * Exceptions to what guests reach beyond the network, in CIDR form, by the installation's configuration. Null without
     * NAT: nothing is reached.
     */
    guestEgress: z.object({ allow: z.array(z.string()), deny: z.array(z.string()) }).nullable(),
    addresses: z.object({ total: z.number().int(), used: z.number().int() }),
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
    state: z.enum(['down', 'active', 'error']),
    message: z.string(),
  })
  .meta({ id: 'Port' });
export const networkListQuery = pageQuery.extend({ name: z.string().max(63).optional() });
/** `network` and `instance` are ids. */
export const portListQuery = pageQuery.extend({ network: field.id.optional(), instance: field.id.optional() });
export type Network = z.infer<typeof network>;
export type Port = z.infer<typeof port>;
