import { networkOf } from './address-network';

describe('networkOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
    ['2001:db8::1', '2001:db8::'],
    ['2001:DB8:0:0:1::2', '2001:db8::'],
    ['::1', '::'],
    ['fe80::1%eth0', 'fe80::'],
    ['', ''],
    ['no address', 'no address'],
  ])('%s is counted as %s', (address, network) => expect(networkOf(address)).toBe(network));
});
