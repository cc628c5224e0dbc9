import { networkInterfaces } from 'node:os';

/** Addresses of this machine outside loopback and link scope, IPv4 first. */
export const ownAddresses = (): string[] => {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const usable = all.filter((a) => !a.internal && !a.address.startsWith('fe80:') && !a.address.startsWith('169.254.'));
  return [...usable.filter((a) => a.family === 'IPv4'), ...usable.filter((a) => a.family === 'IPv6')].map((a) => a.address);
};

/** The address under which others reach this machine: the configured one, else its first global one, else loopback. */
export const reachableAddress = (configured: string): string => configured || ownAddresses()[0] || '127.0.0.1';
