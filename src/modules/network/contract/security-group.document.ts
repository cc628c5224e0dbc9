import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';

/**
 * What a host is told of one rule. It allows flows by the packet that opened them: of both directions of a flow, or of
 * neither.
 */
const ruleDocument = z.object({
  direction: z.enum(['ingress', 'egress']),
  ethertype: z.enum(['ipv4', 'ipv6']),
  /** IANA's number; null: any. */
  protocol: z.number().int().min(0).max(255).nullable(),
  /** Destination ports, both included. */
  ports: z.object({ min: z.number().int(), max: z.number().int() }).nullable(),
  icmp: z.object({ type: z.number().int(), code: z.number().int().nullable() }).nullable(),
  /** The other end, if not anybody: in CIDR form, or members of a group. */
  cidr: z.string().nullable(),
  group: field.id.nullable(),
});

/** A group that ports of the host are in, or whose members rules of such a one name. */
export const securityGroupDocument = z.object({
  id: field.id,
  rules: z.array(ruleDocument),
  /** Addresses of its members on all hosts, by network: of the networks in which a rule of this host names them. */
  members: z.array(z.object({ networkId: field.id, addresses: z.array(z.string()) })),
});

export type RuleDocument = z.infer<typeof ruleDocument>;
export type SecurityGroupDocument = z.infer<typeof securityGroupDocument>;
