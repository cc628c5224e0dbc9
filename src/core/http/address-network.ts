import { isIPv6 } from 'node:net';

/**
 * What is counted as one client: an IPv4 address, or an IPv6 /64, which is what one home network has. A mapped IPv4
 * address is the IPv4 address.
 */
export const networkOf = (address: string): string => {
  const plain = address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const left = head.split(':').filter(Boolean);
  const right = plain.includes('::') ? tail.split(':').filter(Boolean) : [];
  const groups = [...left, ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0'), ...right];
  return groups.slice(0, 4).join(':');
};
