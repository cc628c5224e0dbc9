import { checkAddress, checkGrace, checkName, checkSubnet } from './validate';

it.each([
  ['10.10.0.0/24', null],
  ['10.10.0.5/24', 'The address has bits beyond /24; the network starts earlier.'],
  ['10.10.0.0/30', 'The prefix must be between /8 and /29.'],
  ['10.10.0.256/24', 'IPv4 in CIDR form, such as 10.10.0.0/24.'],
])('takes the subnet %s, or says what is wrong with it', (subnet, said) => expect(checkSubnet(subnet)).toBe(said));

it.each([
  ['10.10.0.20', null],
  ['10.10.1.20', 'Not inside 10.10.0.0/24.'],
  ['10.10.0', 'An IPv4 address such as 10.10.0.20.'],
])('takes the address %s in a subnet, or says what is wrong with it', (address, said) =>
  expect(checkAddress(address, '10.10.0.0/24')).toBe(said),
);

it('counts a name in characters, not in bytes', () => {
  expect(checkName('ü'.repeat(63))).toBeNull();
  expect(checkName('ü'.repeat(64))).toBe('At most 63 characters.');
  expect(checkName('00000000-0000-4000-8000-00000000000a')).toBe('A name must not look like an id.');
});

it('takes seconds from 0 to 600', () => {
  expect(['0', '600', '601', '-1', '1.5'].map((text) => checkGrace(text) === null)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
