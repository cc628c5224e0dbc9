import ipaddr from 'ipaddr.js';
import { unprocessable } from '../../../../core/errors/problem';

/**
 * What has been given out of IPv6. All outside of it has a meaning of its own; that embeds IPv4 addresses in several
 * ways.
 */
const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * True for an address of the public Internet: neither loopback, link-local, private, nor one of the ranges that embed
 * or translate others.
 */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(globalUnicast));
};

/** The host of a URL as an address, when it is one and no name. */
const literalAddress = (url: URL): string | null => {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(host) ? host : null;
};

/**
 * Why management must not fetch from there; null when it may. Names are judged when they are resolved, at each
 * connection.
 */
export const urlFault = (
  text: string,
  allowPrivate: boolean,
): { code: 'url_not_allowed' | 'url_credentials'; message: string } | null => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return { code: 'url_not_allowed', message: 'Only http and https addresses are fetched.' };
  if (url.username !== '' || url.password !== '')
    return {
      code: 'url_credentials',
      message: 'An address with a user name or password is not taken: it would be stored in clear.',
    };
  const literal = literalAddress(url);
  const local = /(^|\.)localhost\.?$/.test(url.hostname);
  if (!allowPrivate && (local || (literal !== null && !isPublicAddress(literal))))
    return {
      code: 'url_not_allowed',
      message: 'The server does not fetch from loopback, link-local or private addresses.',
    };
  return null;
};

/** Throws 422 with the fault of `body.url`. */
export const refuseUrl = (url: string, allowPrivate: boolean): void => {
  const fault = urlFault(url, allowPrivate);
  if (fault) throw unprocessable('body.url', fault.code, fault.message);
};
