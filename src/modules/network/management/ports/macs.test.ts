import { gatewayMacOf, randomMac } from './macs';

describe('MACs', () => {
  it('are unicast and locally administered', () => {
    for (const mac of [randomMac(), gatewayMacOf('0b8e9d1a-7f7b-4d0e-9a55-2f60c1aabbcc')]) {
      expect(mac).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
      expect(parseInt(mac.slice(0, 2), 16) & 3).toBe(2);
    }
  });
  it('of gateways are stable and differ from those of NICs', () => {
    expect(gatewayMacOf('0b8e9d1a-7f7b-4d0e-9a55-2f60c1aabbcc')).toBe('56:43:47:aa:bb:cc');
    expect(randomMac().startsWith('56:43:47')).toBe(false);
  });
});
