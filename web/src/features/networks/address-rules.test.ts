import { checkAddress, checkSubnet } from './address-rules';

it.each([
  ['10.10.0.0/24', null],
  ['10.10.0.5/24', '10.10.0.5/24 has host bits set. The network is 10.10.0.0/24.'],
  ['10.10.0.0/30', 'A network has a prefix of /8 to /29; a /30 has too few addresses for gateway and instances.'],
  ['10.0.0.0/7', 'A network has a prefix of /8 to /29; a /7 is larger than that.'],
  ['10.10.0.256/24', 'IPv4 in CIDR form, such as 10.10.0.0/24.'],
  ['10.10.0.0', 'IPv4 in CIDR form, such as 10.10.0.0/24.'],
])('takes the subnet %s, or says what is wrong with it', (subnet, said) => expect(checkSubnet(subnet)).toBe(said));

it.each([
  ['10.10.0.20', null],
  ['10.10.1.20', 'Not inside 10.10.0.0/24.'],
  ['10.10.0', 'An IPv4 address such as 10.10.0.20.'],
  ['010.10.0.20', 'An IPv4 address such as 10.10.0.20.'],
])('takes the address %s in a subnet, or says what is wrong with it', (address, said) =>
  expect(checkAddress(address, '10.10.0.0/24')).toBe(said),
);

it('says nothing of a subnet that is none yet', () => {
  expect(checkAddress('10.10.0.20', '10.10.')).toBeNull();
});
