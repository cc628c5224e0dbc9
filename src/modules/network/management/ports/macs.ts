import { randomBytes } from 'node:crypto';

/**
 * Prefixes are unicast and locally administered (bits 0 and 1 of the first byte are 0 and 1): "VCS" for NICs, "VCG" for
 * gateways.
 */
const nicPrefix = '56:43:53';
const gatewayPrefix = '56:43:47';

/** A random MAC for a NIC. The caller ensures that it is unique. */
export const randomMac = (): string =>
  [nicPrefix, ...[...randomBytes(3)].map((b) => b.toString(16).padStart(2, '0'))].join(':');

/**
 * The MAC of a network's gateway, DHCP and metadata: the same on every host, for a guest that moves keeps its
 * neighbours.
 */
export const gatewayMacOf = (networkId: string): string =>
  [gatewayPrefix, ...(networkId.slice(-6).match(/../g) ?? [])].join(':');
