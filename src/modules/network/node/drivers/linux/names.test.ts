import * as names from './names';

const hash = names.hostHash('6f1c1c1e-0000-4000-8000-0000000000aa');
const id = '0b8e9d1a-7f7b-4d0e-9a55-2f60c1aabbcc';

describe('names of the linux driver', () => {
  it('of interfaces fit the kernel', () => {
    for (const name of [
      names.tapName(id),
      names.portBridgeName(id),
      names.vethName(id),
      names.portName(id),
      names.hostLinkName(hash, id),
      names.networkBridge,
      names.routerLink,
      names.routerInside(id),
      names.routerOutside,
    ]) {
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(15);
    }
    expect(names.tapName(id)).toBe('t2f60c1aabbcc');
    expect(names.portBridgeName(id)).not.toBe('br');
  });
  it('of namespaces name host, kind and object', () => {
    expect(hash).toMatch(/^[0-9a-f]{6}$/);
    expect(names.instanceNetns(hash, id)).toBe(`vcs-${hash}-i-2f60c1aabbcc`);
    expect(names.networkNetns(hash, id)).toBe(`vcs-${hash}-n-2f60c1aabbcc`);
    expect(names.routerNetns(hash, id)).toBe(`vcs-${hash}-r-2f60c1aabbcc`);
  });
  it('of two hosts differ', () => expect(names.hostHash('a')).not.toBe(names.hostHash('b')));
  it('conntrack zones fit 16 bits and are never 0', () => {
    for (const tail of ['0000', 'ffff', 'fffe', '8000']) {
      const zone = names.conntrackZone(`0b8e9d1a-7f7b-4d0e-9a55-2f60c1aa${tail}`);
      expect(zone).toBeGreaterThan(0);
      expect(zone).toBeLessThan(65_536);
    }
  });
});
