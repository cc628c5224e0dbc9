import { diffNamespace, staleLinks } from './diff';
import { emptyNamespace, parseLinks, type ActualNamespace } from './ip-state';
import type { WantedNamespace } from './plan';

const wanted: WantedNamespace = {
  netns: 'n',
  kind: 'network',
  portIds: [],
  links: [
    { name: 'vbr', kind: 'bridge', mtu: 1450, mac: '56:43:47:00:00:01', addresses: ['10.0.0.1/24'] },
    { name: 'p1', kind: 'veth', mtu: 1450, master: 'vbr', addresses: [], peer: { name: 'v1', netns: 'i' } },
    {
      name: 'rtr0',
      kind: 'veth',
      mtu: 1450,
      addresses: ['169.254.255.1/31'],
      peer: { name: 'net0', netns: 'r' },
      makesPair: true,
    },
  ],
  routes: [{ dst: 'default', via: '169.254.255.0', dev: 'rtr0' }],
  sysctls: [],
  tables: [],
};
const converged = (): ActualNamespace => ({
  links: new Map(
    [
      { name: 'lo', kind: '', up: true, mtu: 65_536, mac: '', master: undefined, addresses: ['127.0.0.1/8'] },
      {
        name: 'vbr',
        kind: 'bridge',
        up: true,
        mtu: 1450,
        mac: '56:43:47:00:00:01',
        master: undefined,
        addresses: ['10.0.0.1/24'],
      },
      { name: 'p1', kind: 'veth', up: true, mtu: 1450, mac: '', master: 'vbr', addresses: [] },
      { name: 'rtr0', kind: 'veth', up: true, mtu: 1450, mac: '', master: undefined, addresses: ['169.254.255.1/31'] },
    ].map((l) => [l.name, l]),
  ),
  routes: [{ dst: 'default', via: '169.254.255.0', dev: 'rtr0' }],
});

describe('the difference of a namespace', () => {
  it('is nothing when all is there', () => expect(diffNamespace(wanted, converged(), 700)).toEqual([]));
  it('is everything when it is new; the other side makes its own pairs', () => {
    expect(diffNamespace(wanted, emptyNamespace(), 700)).toEqual([
      'link add name vbr type bridge stp_state 0 forward_delay 0 mcast_snooping 0',
      'link set dev vbr address 56:43:47:00:00:01 mtu 1450 up',
      'addr add 10.0.0.1/24 dev vbr',
      'link set dev p1 mtu 1450 master vbr up',
      'link add name rtr0 type veth peer name net0 netns r',
      'link set dev rtr0 mtu 1450 up',
      'addr add 169.254.255.1/31 dev rtr0',
      'link set dev lo up',
      'route replace default via 169.254.255.0 dev rtr0',
    ]);
  });
  it('is what drifted, and routes again where links changed', () => {
    const actual = converged();
    const bridge = actual.links.get('vbr');
    const port = actual.links.get('p1');
    if (bridge && port) [bridge.addresses, port.master, port.up] = [['10.0.0.9/24'], undefined, false];
    expect(diffNamespace(wanted, actual, 700)).toEqual([
      'addr del 10.0.0.9/24 dev vbr',
      'addr add 10.0.0.1/24 dev vbr',
      'link set dev p1 master vbr up',
      'route replace default via 169.254.255.0 dev rtr0',
    ]);
  });
});

describe('stale links', () => {
  const everywhere = (): boolean => true;
  it('are unknown ones, but never the loopback', () => {
    const actual = converged();
    actual.links.set('stray', {
      name: 'stray',
      kind: 'bridge',
      up: true,
      mtu: 1500,
      mac: '',
      master: undefined,
      addresses: [],
    });
    expect(staleLinks(wanted, actual, null, everywhere)).toEqual(['stray']);
  });
  it('are only those with the prefix in a shared namespace', () => {
    const actual = converged();
    actual.links.set('labc1', {
      name: 'labc1',
      kind: 'veth',
      up: true,
      mtu: 1500,
      mac: '',
      master: undefined,
      addresses: [],
    });
    expect(staleLinks({ ...wanted, netns: null, links: [] }, actual, 'labc', everywhere)).toEqual(['labc1']);
  });
  it('are ends without the other end, and links of another kind', () => {
    const actual = converged();
    const bridge = actual.links.get('vbr');
    if (bridge) bridge.kind = 'veth';
    expect(staleLinks(wanted, actual, null, (_netns, name) => name !== 'v1')).toEqual(['vbr', 'p1']);
  });
});

describe('reading iproute2', () => {
  it('takes what is compared and passes over empty entries', () => {
    const text = JSON.stringify([
      {},
      {
        ifname: 'tap0',
        flags: ['BROADCAST', 'UP'],
        mtu: 1450,
        master: 'b',
        address: 'aa:bb:cc:dd:ee:ff',
        linkinfo: { info_kind: 'tun' },
        addr_info: [{ family: 'inet6', local: 'fe80::1', prefixlen: 64 }],
      },
    ]);
    expect([...parseLinks(text).values()]).toEqual([
      { name: 'tap0', kind: 'tun', up: true, mtu: 1450, mac: 'aa:bb:cc:dd:ee:ff', master: 'b', addresses: [] },
    ]);
  });
});
