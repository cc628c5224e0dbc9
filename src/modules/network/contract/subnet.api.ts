import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { pageQuery } from '../../../core/http/routes/pagination';

const dns = z.array(z.ipv4()).max(3);

export const createSubnet = z.strictObject({
  /** Name or id. */
  network: field.ref,
  name: field.displayName,
  /** IPv4 in CIDR form with host bits zero; /8 to /29. Those of one network do not overlap. */
  cidr: z.cidrv4(),
  /** First usable address unless given. */
  gateway: z.ipv4().optional(),
  dns: dns.default([]),
});
export const updateSubnet = z.strictObject({ name: field.displayName.optional(), dns: dns.optional() });
export const subnet = z
  .object({
    id: field.id,
    projectId: field.id,
    networkId: field.id,
    network: z.string(),
    name: z.string(),
    cidr: z.string(),
    gateway: z.string(),
    dns: z.array(z.string()),
    /** The router that it is on. */
    router: z.object({ id: field.id, name: z.string() }).nullable(),
    addresses: z.object({ total: z.number().int(), used: z.number().int() }),
    createdAt: field.timestamp,
  })
  .meta({ id: 'Subnet' });
/** `network` is an id. */
export const subnetListQuery = pageQuery.extend({ network: field.id.optional(), name: z.string().max(63).optional() });
export type Subnet = z.infer<typeof subnet>;
