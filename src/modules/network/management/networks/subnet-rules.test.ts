import type { Problem } from '../../../../core/errors/problem';
import { formatIpv4 } from '../../contract/ipv4';
import { checkDns, checkFixedAddress, checkSubnet } from './subnet-rules';

const pool = '100.64.0.0/16';
const refusal = (run: () => unknown): { code: string; path: string | undefined; detail: string } => {
  try {
    run();
  } catch (error) {
    const problem = error as Problem;
    return { code: problem.code, path: problem.errors[0]?.path, detail: problem.detail };
  }
  throw new Error('was accepted');
};

describe('subnets of networks', () => {
  it.each(['10.0.0.0/8', '10.10.0.0/24', '192.168.1.248/29', '100.65.0.0/16'])('%s is accepted', (subnet) =>
    expect(() => checkSubnet(subnet, undefined, pool)).not.toThrow(),
  );
  it('puts the gateway first unless told otherwise', () => {
    expect(formatIpv4(checkSubnet('10.10.0.0/24', undefined, pool).gateway)).toBe('10.10.0.1');
    expect(formatIpv4(checkSubnet('10.10.0.0/24', '10.10.0.254', pool).gateway)).toBe('10.10.0.254');
  });
  it.each([
    ['10.0.0.0/30', 'network_too_small'],
    ['10.0.0.0/31', 'network_too_small'],
    ['10.0.0.1/32', 'network_too_small'],
    ['0.0.0.0/0', 'network_too_large'],
    ['10.0.0.0/7', 'network_too_large'],
    ['10.10.0.1/24', 'host_bits_set'],
    ['127.0.0.0/24', 'subnet_reserved'],
    ['169.254.0.0/24', 'subnet_reserved'],
    ['224.0.0.0/24', 'subnet_reserved'],
    ['250.0.0.0/24', 'subnet_reserved'],
    ['100.64.7.0/24', 'subnet_reserved'],
    ['100.0.0.0/8', 'subnet_reserved'],
  ])('%s is refused as %s', (subnet, code) =>
    expect(refusal(() => checkSubnet(subnet, undefined, pool))).toMatchObject({ code, path: 'body.subnet' }),
  );
  it('names the limits and the right network', () => {
    expect(refusal(() => checkSubnet('10.0.0.0/30', undefined, pool)).detail).toMatch(/\/8 to \/29/);
    expect(refusal(() => checkSubnet('10.10.0.77/24', undefined, pool)).detail).toContain('10.10.0.0/24');
  });
  it.each([
    ['10.11.0.1', 'gateway_outside'],
    ['10.10.0.0', 'gateway_not_usable'],
    ['10.10.0.255', 'gateway_not_usable'],
  ])('gateway %s is refused as %s', (gateway, code) =>
    expect(refusal(() => checkSubnet('10.10.0.0/24', gateway, pool))).toMatchObject({ code, path: 'body.gateway' }),
  );
  it.each([
    ['10.11.0.5', 'address_outside'],
    ['10.10.0.0', 'address_not_usable'],
    ['10.10.0.255', 'address_not_usable'],
    ['10.10.0.1', 'address_not_usable'],
  ])('address %s is refused as %s', (address, code) =>
    expect(
      refusal(() =>
        checkFixedAddress(address, { cidr: '10.10.0.0/24', gateway: '10.10.0.1' }, 'body.networks.0.address'),
      ),
    ).toMatchObject({ code, path: 'body.networks.0.address' }),
  );
});

describe('DNS servers of networks', () => {
  const network = { cidr: '10.10.0.0/24', gateway: '10.10.0.1' };
  it.each(['1.1.1.1', '10.10.0.53', '10.0.0.1', '192.168.0.1'])('%s is accepted', (server) =>
    expect(() => checkDns([server], network, pool)).not.toThrow(),
  );
  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '127.0.0.1',
    '127.0.0.53',
    '169.254.169.254',
    '224.0.0.251',
    '255.255.255.255',
    '240.0.0.1',
    '100.64.0.1',
    '10.10.0.0',
    '10.10.0.255',
    '10.10.0.1',
  ])('%s is refused at its place', (server) => {
    expect(refusal(() => checkDns(['1.1.1.1', server], network, pool))).toMatchObject({
      code: 'dns_not_usable',
      path: 'body.dns.1',
    });
  });
});
