import ipaddr from 'ipaddr.js';

/**
 * An IPv4 network in numbers. `first` and `last` are its network and broadcast address, as unsigned 32-bit integers.
 */
export interface Ipv4Subnet {
  first: number;
  last: number;
  prefix: number;
}

/** Dotted quad to unsigned 32-bit integer. Throws on anything else. */
export const parseIpv4 = (text: string): number =>
  ipaddr.IPv4.parse(text)
    .toByteArray()
    .reduce((value, byte) => value * 256 + byte, 0);

export const formatIpv4 = (value: number): string =>
  new ipaddr.IPv4([24, 16, 8, 0].map((bits) => (value >>> bits) & 255)).toString();

/** Parses `a.b.c.d/n`; host bits are cut off. */
export const parseSubnet = (cidr: string): Ipv4Subnet => {
  const [address = '0.0.0.0', bits = '32'] = cidr.split('/');
  const prefix = Number(bits);
  const size = 2 ** (32 - prefix);
  const first = Math.floor(parseIpv4(address) / size) * size;
  return { first, last: first + size - 1, prefix };
};

export const formatSubnet = (subnet: Ipv4Subnet): string => `${formatIpv4(subnet.first)}/${subnet.prefix}`;

export const netmask = (prefix: number): string => ipaddr.IPv4.subnetMaskFromPrefixLength(prefix).toString();

export const contains = (subnet: Ipv4Subnet, address: number): boolean =>
  address >= subnet.first && address <= subnet.last;

export const overlaps = (a: Ipv4Subnet, b: Ipv4Subnet): boolean => a.first <= b.last && b.first <= a.last;

/** How many addresses instances can get: all but network, broadcast and gateway. */
export const usableCount = (subnet: Ipv4Subnet): number => Math.max(0, subnet.last - subnet.first + 1 - 3);
