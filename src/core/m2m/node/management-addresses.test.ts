import { Config } from '../../config/config';
import { coreConfigSchema } from '../../config/core-config';
import { ManagementAddresses, parseAddress } from './management-addresses';

const known = { address: '192.0.2.9', port: 1 };
const make = (management: string[]): ManagementAddresses =>
  new ManagementAddresses(new Config(coreConfigSchema.parse({ compute: { management } }), {}));

describe('addresses of management', () => {
  it.each([
    ['a.example', { address: 'a.example', port: 8445 }],
    ['192.0.2.1:9445', { address: '192.0.2.1', port: 9445 }],
    ['[2001:db8::1]:9445', { address: '2001:db8::1', port: 9445 }],
    ['[2001:db8::1]', { address: '2001:db8::1', port: 8445 }],
  ])('reads %s', (text, endpoint) => expect(parseAddress(text, 8445)).toEqual(endpoint));

  it.each(['', 'a b', 'a:0', 'a:99999', '2001:db8::1', 'https://a'])('refuses %p in the configuration', (text) => {
    expect(() => make([text])).toThrow();
  });

  it('stays with the one that answers, and goes round from one that does not', () => {
    const addresses = make(['a:1', 'b:2', 'c:3']);
    const order = (): string =>
      addresses
        .all(known)
        .map((e) => e.address)
        .join('');
    expect(order()).toBe('abc');
    addresses.failed({ address: 'a', port: 1 });
    addresses.failed({ address: 'a', port: 1 });
    expect(order()).toBe('bca');
    addresses.failed({ address: 'b', port: 2 });
    addresses.failed({ address: 'c', port: 3 });
    expect(order()).toBe('abc');
  });

  it('is the token’s without any', () => {
    const addresses = make([]);
    addresses.failed(known);
    expect(addresses.all(known)).toEqual([known]);
  });
});
