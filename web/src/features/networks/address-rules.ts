import { contains, parseIpv4, parseSubnet } from '../../../../src/modules/network/contract/ipv4';
import { createNetwork } from '../../../../src/modules/network/contract/network.api';
import { subnetFault } from '../../../../src/modules/network/contract/subnet-size';
import { checkBy } from '../../lib/validate';

const { subnet: subnetForm, gateway: addressForm } = createNetwork.shape;
const checkForm = checkBy<string>(addressForm, 'An IPv4 address such as 10.10.0.20.');
const checkCidr = checkBy<string>(subnetForm, 'IPv4 in CIDR form, such as 10.10.0.0/24.');

/** What is wrong with an address, in a subnet when one is given that is none the less. */
export const checkAddress = (value: string, subnet?: string): string | null => {
  const wrong = checkForm(value);
  if (wrong !== null || subnet === undefined || checkCidr(subnet) !== null) return wrong;
  return contains(parseSubnet(subnet), parseIpv4(value)) ? null : `Not inside ${subnet}.`;
};

export const checkSubnet = (value: string): string | null => checkCidr(value) ?? subnetFault(value)?.message ?? null;
