import { unprocessable } from '../../../../core/errors/problem';
import { contains, formatIpv4, overlaps, parseIpv4, parseSubnet, type Ipv4Subnet } from '../../contract/ipv4';
import { subnetFault } from '../../contract/subnet-size';

const reserved: readonly [string, string][] = [
  ['0.0.0.0/8', 'addresses of "this network"'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local, where the metadata service lives'],
  ['224.0.0.0/3', 'multicast and reserved'],
];

/**
 * Checks what a user wants as a network's addresses. Throws 422 with the reason at the field: `network_too_small`,
 * `network_too_large`, `host_bits_set`, `subnet_reserved`, `gateway_outside`, `gateway_not_usable`.
 * @returns the subnet, and the gateway (the first usable address unless given) as a number
 */
export const checkSubnet = (
  subnet: string,
  gateway: string | undefined,
  linkPool: string,
  at = { subnet: 'body.subnet', gateway: 'body.gateway' },
): { subnet: Ipv4Subnet; gateway: number } => {
  const parsed = parseSubnet(subnet);
  const fault = subnetFault(subnet);
  if (fault) throw unprocessable(at.subnet, fault.code, fault.message);
  for (const [range, what] of [
    ...reserved,
    [linkPool, 'used by the hosts themselves (modules.network.linkPool)'] as const,
  ]) {
    if (overlaps(parsed, parseSubnet(range)))
      throw unprocessable(at.subnet, 'subnet_reserved', `${subnet} overlaps ${range}: ${what}.`);
  }
  if (gateway === undefined) return { subnet: parsed, gateway: parsed.first + 1 };
  const value = parseIpv4(gateway);
  if (!contains(parsed, value)) throw unprocessable(at.gateway, 'gateway_outside', `${gateway} is not in ${subnet}.`);
  if (value === parsed.first || value === parsed.last) {
    throw unprocessable(
      at.gateway,
      'gateway_not_usable',
      `${gateway} is the ${value === parsed.first ? 'network' : 'broadcast'} address of ${subnet}.`,
    );
  }
  return { subnet: parsed, gateway: value };
};

/**
 * Checks the DNS servers that a network's guests are to ask. Throws 422 `dns_not_usable` at the one that can never
 * answer: addresses with a meaning of their own, and those of the network itself that serve no names. A guest of the
 * network may be one.
 */
export const checkDns = (
  servers: readonly string[],
  network: { cidr: string; gateway: string },
  linkPool: string,
  path = 'body',
): void => {
  const subnet = parseSubnet(network.cidr);
  for (const [index, server] of servers.entries()) {
    const value = parseIpv4(server);
    const special = [...reserved, [linkPool, 'used by the hosts themselves'] as const].find(([range]) =>
      contains(parseSubnet(range), value),
    );
    const own =
      value === subnet.first
        ? "the network's own address"
        : value === subnet.last
          ? "the network's broadcast address"
          : server === network.gateway
            ? "the network's gateway, which serves no names"
            : undefined;
    const why = special ? `in ${special[0]}: ${special[1]}` : own;
    if (why !== undefined)
      throw unprocessable(`${path}.dns.${index}`, 'dns_not_usable', `${server} cannot be a DNS server: it is ${why}.`);
  }
};

/** Checks an address that a user wants for a NIC. Throws 422 `address_outside` or `address_not_usable`. */
export const checkFixedAddress = (
  address: string,
  { cidr, gateway }: { cidr: string; gateway: string },
  path: string,
): void => {
  const subnet = parseSubnet(cidr);
  const value = parseIpv4(address);
  if (!contains(subnet, value)) throw unprocessable(path, 'address_outside', `${address} is not in ${cidr}.`);
  const role =
    value === subnet.first
      ? 'network address'
      : value === subnet.last
        ? 'broadcast address'
        : formatIpv4(value) === gateway
          ? 'gateway'
          : undefined;
  if (role !== undefined) throw unprocessable(path, 'address_not_usable', `${address} is the ${role} of ${cidr}.`);
};
