import type { SecurityGroupRule } from '../../lib/types';

/** `any`, `tcp`, `icmpv6`; with IPv6 said where the protocol does not. */
export const protocolOf = ({ protocol, ethertype }: SecurityGroupRule): string => {
  const name = protocol ?? 'any';
  return ethertype === 'ipv6' && name !== 'icmpv6' ? `${name} (IPv6)` : name;
};

/** `443`, `8000–8100`, `type 8`, `all`. */
export const portsOf = ({ portMin, portMax, icmpType, icmpCode }: SecurityGroupRule): string => {
  if (icmpType !== null) return `type ${icmpType}${icmpCode === null ? '' : `, code ${icmpCode}`}`;
  if (portMin === null) return 'all';
  return portMax === null || portMax === portMin ? String(portMin) : `${portMin}–${portMax}`;
};
