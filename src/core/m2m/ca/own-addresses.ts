import { networkInterfaces } from 'node:os';

/** Interfaces of virtual networks: they come and go, and nobody reaches this machine by them. */
const virtual = /^(veth|tap|tun|vc|docker|br-|virbr|vxlan|dummy)/;

/** Addresses of this machine outside loopback, link scope and virtual networks, IPv4 first. */
export const ownAddresses = (): string[] => {
  const all = Object.entries(networkInterfaces()).flatMap(([name, list]) => (virtual.test(name) ? [] : (list ?? [])));
  const usable = all.filter((a) => !a.internal && !a.address.startsWith('fe80:') && !a.address.startsWith('169.254.'));
  return [...usable.filter((a) => a.family === 'IPv4'), ...usable.filter((a) => a.family === 'IPv6')].map(
    (a) => a.address,
  );
};

/** The address under which others reach this machine: the configured one, else its first global one, else loopback. */
export const reachableAddress = (configured: string): string => configured || ownAddresses()[0] || '127.0.0.1';
