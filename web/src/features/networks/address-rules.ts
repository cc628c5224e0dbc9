import { contains, parseIpv4, parseSubnet } from '../../../../src/modules/network/contract/ipv4';
import { createNetwork } from '../../../../src/modules/network/contract/network.api';
import { subnetFault } from '../../../../src/modules/network/contract/subnet-size';
import { checkBy } from '../../lib/validate';

const { subnet: subnetForm, gateway: addressForm } = createNetwork.shape;
const checkForm = checkBy<string>(addressForm, 'An IPv4 address such as 10.10.0.20.');
const checkCidr = checkBy<string>(subnetForm, 'IPv4 in CIDR form, such as 10.10.0.0/24.');

/** What is wrong with an address, in one of the subnets when some are given that are none the less. */
export const checkAddress = (value: string, ...subnets: readonly string[]): string | null => {
  const wrong = checkForm(value);
  const known = subnets.filter((subnet) => checkCidr(subnet) === null);
  if (wrong !== null || known.length === 0) return wrong;
  return known.some((subnet) => contains(parseSubnet(subnet), parseIpv4(value)))
    ? null
    : `Not inside ${known.join(' or ')}.`;
};

/** The subnets of a network, as its addresses are. */
export const rangesOf = (network: { subnets: readonly { cidr: string }[] } | undefined): string[] =>
  network?.subnets.map(({ cidr }) => cidr) ?? [];

export const checkSubnet = (value: string): string | null => checkCidr(value) ?? subnetFault(value)?.message ?? null;
