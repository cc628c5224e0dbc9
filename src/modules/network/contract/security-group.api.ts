import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { pageQuery } from '../../../core/http/routes/pagination';

const portNumber = z.number().int().min(0).max(65_535);
const octet = z.number().int().min(0).max(255);

export const createSecurityGroup = z.strictObject({
  name: field.displayName,
  description: field.description.default(''),
});
export const updateSecurityGroup = z.strictObject({
  name: field.displayName.optional(),
  description: field.description.optional(),
});
export const createSecurityGroupRule = z.strictObject({
  direction: z.enum(['ingress', 'egress']),
  ethertype: z.enum(['ipv4', 'ipv6']).default('ipv4'),
  /** A name (`tcp`) or number of IANA's; null: any. */
  protocol: z
    .union([z.string().min(1).max(16), octet])
    .nullable()
    .default(null),
  /** Destination ports, both included; one alone is that port. Null: all. */
  portMin: portNumber.nullable().default(null),
  portMax: portNumber.nullable().default(null),
  /** Null: all. */
  icmpType: octet.nullable().default(null),
  icmpCode: octet.nullable().default(null),
  /** The other end: in CIDR form, or members of a group of the project (name or id). Neither: anybody. */
  remoteCidr: z.union([z.cidrv4(), z.cidrv6()]).nullable().default(null),
  remoteGroup: field.ref.nullable().default(null),
  description: field.description.default(''),
});
const named = z.object({ id: field.id, name: z.string() });
export const securityGroupRule = z
  .object({
    id: field.id,
    direction: z.enum(['ingress', 'egress']),
    ethertype: z.enum(['ipv4', 'ipv6']),
    /** Its name, or its number in digits. Null: any. */
    protocol: z.string().nullable(),
    portMin: z.number().int().nullable(),
    portMax: z.number().int().nullable(),
    icmpType: z.number().int().nullable(),
    icmpCode: z.number().int().nullable(),
    remoteCidr: z.string().nullable(),
    remoteGroup: named.nullable(),
    description: z.string(),
    createdAt: field.timestamp,
  })
  .meta({ id: 'SecurityGroupRule' });
export const securityGroup = z
  .object({
    id: field.id,
    projectId: field.id,
    name: z.string(),
    description: z.string(),
    /** Of ports that name no group; it cannot be renamed nor deleted. */
    isDefault: z.boolean(),
    /** `active`: every host concerned has reported that its newest rules and members hold there. */
    status: z.enum(['active', 'pending']),
    /** Hosts with ports in it, or with ports whose rules name its members; and of how many all is reported. */
    hosts: z.object({ concerned: z.number().int(), converged: z.number().int() }),
    ruleCount: z.number().int(),
    portCount: z.number().int(),
    createdAt: field.timestamp,
  })
  .meta({ id: 'SecurityGroup' });
export const securityGroupWithRules = securityGroup
  .extend({ rules: z.array(securityGroupRule) })
  .meta({ id: 'SecurityGroupWithRules' });
export const securityGroupListQuery = pageQuery.extend({ name: z.string().max(63).optional() });
/** Names or ids; none: nothing passes but what every guest needs of its network (DHCP, metadata, its host). */
export const securityGroupRefs = z.array(field.ref).max(32);
export const updatePort = z.strictObject({ securityGroups: securityGroupRefs.optional() });
export type SecurityGroup = z.infer<typeof securityGroup>;
export type SecurityGroupRule = z.infer<typeof securityGroupRule>;
export type SecurityGroupWithRules = z.infer<typeof securityGroupWithRules>;
