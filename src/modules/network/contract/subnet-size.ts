import { formatSubnet, parseIpv4, parseSubnet } from './ipv4';

const largestPrefix = 8;
const smallestPrefix = 29;

/**
 * What is wrong with an IPv4 network in CIDR form as a network's addresses, whatever else there is: its size, or bits
 * beyond its prefix. Null when nothing is.
 */
export const subnetFault = (subnet: string): { code: string; message: string } | null => {
  const parsed = parseSubnet(subnet);
  const [address = ''] = subnet.split('/');
  const sizes = `A network has a prefix of /${largestPrefix} to /${smallestPrefix}`;
  if (parsed.prefix > smallestPrefix)
    return {
      code: 'network_too_small',
      message: `${sizes}; a /${parsed.prefix} has too few addresses for gateway and instances.`,
    };
  if (parsed.prefix < largestPrefix)
    return { code: 'network_too_large', message: `${sizes}; a /${parsed.prefix} is larger than that.` };
  if (parseIpv4(address) !== parsed.first)
    return {
      code: 'host_bits_set',
      message: `${subnet} has host bits set. The network is ${formatSubnet(parsed)}.`,
    };
  return null;
};
