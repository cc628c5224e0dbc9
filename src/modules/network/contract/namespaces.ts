import { createHash } from 'node:crypto';

/**
 * The last 12 hexadecimal digits of a UUID, which are random in every version in use, so that a name can be traced to
 * its object by eye.
 */
export const idTail = (id: string): string => id.replaceAll('-', '').slice(-12);

/** Tells the things of several hosts on one machine apart: 6 hexadecimal digits of the host id's hash. */
export const hostHash = (hostId: string): string => createHash('sha256').update(hostId).digest('hex').slice(0, 6);

export const netnsPrefix = (hash: string): string => `vcs-${hash}-`;

/** The namespace of a network on a host: there its guests are next door. */
export const networkNetns = (hash: string, networkId: string): string => `${netnsPrefix(hash)}n-${idTail(networkId)}`;
