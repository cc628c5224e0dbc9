import { contains, formatIpv4, formatSubnet, netmask, overlaps, parseIpv4, parseSubnet, usableCount } from './ipv4';

describe('IPv4 arithmetic', () => {
  it.each(['0.0.0.0', '10.1.2.3', '127.255.255.255', '128.0.0.0', '255.255.255.255'])('round trip of %s', (text) =>
    expect(formatIpv4(parseIpv4(text))).toBe(text),
  );
  it('cuts host bits', () => {
    expect(formatSubnet(parseSubnet('10.10.0.9/24'))).toBe('10.10.0.0/24');
    expect(formatSubnet(parseSubnet('192.168.1.255/29'))).toBe('192.168.1.248/29');
    expect(formatSubnet(parseSubnet('200.1.2.3/0'))).toBe('0.0.0.0/0');
  });
  it.each([
    [8, '255.0.0.0'],
    [24, '255.255.255.0'],
    [29, '255.255.255.248'],
    [32, '255.255.255.255'],
    [0, '0.0.0.0'],
  ])('netmask of /%i', (prefix, mask) => expect(netmask(prefix)).toBe(mask));
  it('knows neighbours from overlaps', () => {
    expect(overlaps(parseSubnet('10.0.0.0/24'), parseSubnet('10.0.1.0/24'))).toBe(false);
    expect(overlaps(parseSubnet('10.0.0.0/8'), parseSubnet('10.200.1.0/24'))).toBe(true);
    expect(contains(parseSubnet('10.0.0.0/29'), parseIpv4('10.0.0.8'))).toBe(false);
    expect(contains(parseSubnet('10.0.0.0/29'), parseIpv4('10.0.0.7'))).toBe(true);
  });
  it.each([
    ['10.0.0.0/29', 5],
    ['10.0.0.0/30', 1],
    ['10.0.0.0/31', 0],
    ['10.0.0.0/32', 0],
    ['10.0.0.0/24', 253],
    ['10.0.0.0/8', 16_777_213],
  ])('usable addresses of %s', (cidr, count) => expect(usableCount(parseSubnet(cidr))).toBe(count));
});
