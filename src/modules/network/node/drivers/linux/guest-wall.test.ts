import dns from 'node:dns/promises';
import { addressesOf, guestWall, type HostRoute } from './guest-wall';
import { hostTables } from './nft-rules';

const uplink: HostRoute[] = [
  { dst: 'default', gateway: '192.0.2.1', dev: 'eth0' },
  { dst: '192.0.2.0/24', dev: 'eth0' },
];
const egress = { allow: [], deny: [], hosts: [] };
const wall = (routes: HostRoute[], more: Partial<Parameters<typeof guestWall>[0]> = {}): ReturnType<typeof guestWall> =>
  guestWall({ hash: 'abcdef', routes, egress, machines: { addresses: [], unknown: [] }, resolvers: [], ...more });

describe('the wall around guests', () => {
  it('denies what the host is connected to, and leads out through the default gateway', () => {
    expect(wall(uplink)).toEqual({
      allowed: [],
      resolvers: [],
      denied: ['192.0.2.0/24'],
      gateways: ['192.0.2.1'],
      closed: false,
    });
  });

  it('counts every connected network of every table, and no route of another kind', () => {
    const routes: HostRoute[] = [
      ...uplink,
      { dst: '10.8.0.0/16', dev: 'wg0' },
      { dst: '10.9.0.0/16', gateway: '192.0.2.7', dev: 'eth0' },
      { dst: '192.0.2.2', dev: 'eth0', type: 'local' },
      { dst: '10.10.0.0/16', type: 'blackhole' },
    ];
    expect(wall(routes).denied).toEqual(['10.8.0.0/16', '192.0.2.0/24']);
  });

  it('leaves the links of its own routers out, and only these', () => {
    expect(
      wall([
        ...uplink,
        { dst: '100.64.0.0/31', dev: 'labcdef00000001' },
        { dst: '100.64.0.2/31', dev: 'l12345600000001' },
      ]).denied,
    ).toEqual(['100.64.0.2/31', '192.0.2.0/24']);
  });

  it('knows several ways out, and a line without a gateway', () => {
    const hops = [
      { gateway: '192.0.2.1', dev: 'eth0' },
      { gateway: '198.51.100.1', dev: 'eth1' },
    ];
    expect(wall([{ dst: 'default', nexthops: hops }]).gateways).toEqual(['192.0.2.1', '198.51.100.1']);
    expect(wall([{ dst: 'default', dev: 'ppp0' }]).gateways).toBeNull();
    expect(wall([]).gateways).toEqual([]);
  });

  it("denies the cloud's machines, but for a loopback address, and what the operator says", () => {
    expect(
      wall(uplink, {
        machines: { addresses: ['203.0.113.4', '127.0.0.1'], unknown: [] },
        egress: { ...egress, deny: ['10.0.0.0/8'], allow: ['10.1.0.0/16'] },
      }),
    ).toMatchObject({
      allowed: ['10.1.0.0/16'],
      denied: ['10.0.0.0/8', '192.0.2.0/24', '203.0.113.4'],
    });
  });

  it('lets nobody out while a machine of the cloud could be anywhere', () => {
    const closed = wall(uplink, {
      machines: { addresses: [], unknown: ['hv-09.invalid'] },
      egress: { ...egress, allow: ['10.1.0.0/16'] },
      resolvers: ['9.9.9.9'],
    });
    expect(closed).toMatchObject({ closed: true, allowed: ['10.1.0.0/16'], resolvers: ['9.9.9.9'] });
    const rules = hostTables('abcdef', ['100.64.0.0'], closed)[0]?.body.join('\n') ?? '';
    const chain = rules.slice(rules.indexOf('chain egress'));
    expect(chain.indexOf('@allowed accept')).toBeLessThan(chain.indexOf('\nreject'));
    expect(chain.indexOf('\nreject')).toBeLessThan(chain.indexOf('\n}'));
    expect(hostTables('abcdef', ['100.64.0.0'], wall(uplink))[0]?.body.join('\n')).not.toMatch(/\nreject/);
  });
});

describe('addresses of machines', () => {
  it('keep what a name had when it is not found any more, and forget names that are asked for no more', async () => {
    expect(
      await addressesOf(['192.0.2.8', 'no-such-machine.invalid', '2001:db8::1'], {
        'no-such-machine.invalid': ['192.0.2.9'],
        'old.invalid': ['192.0.2.7'],
      }),
    ).toEqual({
      addresses: ['192.0.2.8', '192.0.2.9'],
      unknown: [],
      known: { 'no-such-machine.invalid': ['192.0.2.9'] },
    });
  });

  it('are asked for once at a time, so that a server that does not answer keeps no other name from being found', async () => {
    const { lookup } = dns;
    const asked: string[] = [];
    let answer = (): void => undefined;
    const asking = jest.spyOn(dns, 'lookup').mockImplementation(((name: string, options: object) => {
      asked.push(name);
      if (name === 'localhost') return lookup(name, options);
      return new Promise((_, reject) => (answer = () => reject(new Error('no server answers'))));
    }) as typeof lookup);
    try {
      for (let round = 0; round < 2; round += 1)
        expect(await addressesOf(['silent.invalid', 'localhost'], {})).toMatchObject({
          addresses: ['127.0.0.1'],
          unknown: ['silent.invalid'],
        });
      expect(asked.filter((name) => name === 'silent.invalid')).toHaveLength(1);
      answer();
      await new Promise((resolve) => setImmediate(resolve));
      const later = addressesOf(['silent.invalid'], {});
      answer();
      expect((await later).unknown).toEqual(['silent.invalid']);
      expect(asked.filter((name) => name === 'silent.invalid')).toHaveLength(2);
    } finally {
      asking.mockRestore();
    }
  });

  it('say which names were never found', async () => {
    expect(await addressesOf(['never-found.invalid', 'localhost', 'constructor'], {})).toMatchObject({
      addresses: ['127.0.0.1'],
      unknown: ['constructor', 'never-found.invalid'],
    });
  });
});
