import ipaddr from 'ipaddr.js';
import type { z } from 'zod';
import { unprocessable } from '../../../../core/errors/problem';
import type { createSecurityGroupRule } from '../../contract/security-group.api';
import { hasPorts, icmp, icmpv6, protocolName, protocolNames, protocolNumber } from '../../contract/ip-protocols';
import type { SecurityGroupRuleEntity } from './security-group-rule.entity';

export type AskedRule = z.output<typeof createSecurityGroupRule>;

/** A rule's own members, as they are stored. */
export type RuleMatch = Pick<
  SecurityGroupRuleEntity,
  'direction' | 'ethertype' | 'protocol' | 'portMin' | 'portMax' | 'icmpType' | 'icmpCode' | 'remoteCidr'
>;

const protocolOf = ({ protocol, ethertype }: AskedRule): number | null => {
  if (protocol === null) return null;
  const number = protocolNumber(protocol);
  if (number === null)
    throw unprocessable(
      'body.protocol',
      'unknown_protocol',
      `"${protocol}" is no number from 0 to 255 and none of ${protocolNames.join(', ')}.`,
    );
  const foreign = ethertype === 'ipv4' ? icmpv6 : icmp;
  if (number === foreign)
    throw unprocessable('body.protocol', 'wrong_family', `${protocolName(number)} is no protocol of ${ethertype}.`);
  return number;
};

/** One port alone is the range of it. */
const portsOf = ({ portMin, portMax }: AskedRule, protocol: number | null): Pick<RuleMatch, 'portMin' | 'portMax'> => {
  if (portMin === null && portMax === null) return { portMin, portMax };
  const asked = portMin === null ? 'body.portMax' : 'body.portMin';
  if (protocol === null || !hasPorts(protocol))
    throw unprocessable(asked, 'protocol_has_no_ports', 'Ports are of tcp, udp, sctp, dccp and udplite.');
  const [min, max] = [portMin ?? portMax ?? 0, portMax ?? portMin ?? 0];
  if (max < min)
    throw unprocessable('body.portMax', 'port_range_reversed', `The range ends at ${max}, before it begins at ${min}.`);
  return { portMin: min, portMax: max };
};

const icmpOf = (
  { icmpType, icmpCode }: AskedRule,
  protocol: number | null,
): Pick<RuleMatch, 'icmpType' | 'icmpCode'> => {
  if (icmpType === null && icmpCode !== null)
    throw unprocessable('body.icmpCode', 'icmp_code_without_type', 'A code is one of a type: name that too.');
  if (icmpType !== null && protocol !== icmp && protocol !== icmpv6)
    throw unprocessable('body.icmpType', 'protocol_has_no_types', 'Types are of icmp and icmpv6.');
  return { icmpType, icmpCode };
};

const cidrOf = ({ remoteCidr, remoteGroup, ethertype }: AskedRule): string | null => {
  if (remoteCidr === null) return null;
  if (remoteGroup !== null)
    throw unprocessable(
      'body.remoteGroup',
      'two_remotes',
      'The other end is in CIDR form or a group: name one of both.',
    );
  const [address, prefix] = ipaddr.parseCIDR(remoteCidr);
  if (address.kind() !== ethertype)
    throw unprocessable('body.remoteCidr', 'wrong_family', `${remoteCidr} is no network of ${ethertype}.`);
  const network = `${(address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(remoteCidr).toString()}/${prefix}`;
  if (`${address.toString()}/${prefix}` !== network)
    throw unprocessable(
      'body.remoteCidr',
      'host_bits_set',
      `${remoteCidr} has host bits set. The network is ${network}.`,
    );
  return network;
};

/** What was asked for as it is stored, but for the group. 422 with the field for what means nothing. */
export const ruleMatch = (asked: AskedRule): RuleMatch => {
  const protocol = protocolOf(asked);
  return {
    direction: asked.direction,
    ethertype: asked.ethertype,
    protocol,
    ...portsOf(asked, protocol),
    ...icmpOf(asked, protocol),
    remoteCidr: cidrOf(asked),
  };
};
