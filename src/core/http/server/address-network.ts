import ipaddr from 'ipaddr.js';

/** Bits of an IPv6 address that tell one home network from another. */
const prefixOfOneNetwork = 64;

/**
 * What is counted as one client: an IPv4 address, or an IPv6 /64, which is what one home network has. A mapped IPv4
 * address is the IPv4 address.
 */
export const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/${prefixOfOneNetwork}`).toString();
};
