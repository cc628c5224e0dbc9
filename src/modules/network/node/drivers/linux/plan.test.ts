import {
  ofFirstRevision,
  plainEgress,
  toFirstRevision,
  type HostNetworkDocument,
} from '../../../contract/host-document';
import { present, type PlainNetwork } from '../../../../../../test/support/plain-networks';
import { leasableName, type WantedDhcp } from './dhcp-plan';
import { renderTables } from './nft-rules';
import { assignLinks, linkAddresses, planHost, type Plan, type WantedNamespace } from './plan';

const port = (n: number, instance = n): PlainNetwork['ports'][number] => ({
  id: `22222222-2222-4222-8222-2222222222${10 + n}`,
  instanceId: `33333333-3333-4333-8333-3333333333${10 + instance}`,
  mac: `56:43:53:00:00:${10 + n}`,
  address: `10.77.0.${10 + n}`,
  hostname: `vm${n}`,
  position: 0,
  defaultRoute: true,
});
const network = (n: number, ports: PlainNetwork['ports'], nat = true): PlainNetwork => ({
  id: `11111111-1111-4111-8111-1111111111${10 + n}`,
  subnet: '10.77.0.0/24',
  gateway: '10.77.0.1',
  gatewayMac: '56:43:47:00:00:01',
  dns: [],
  domain: 'lab.internal',
  mtu: 1450,
  nat,
  ports,
});
const linkPool = '100.64.0.0/16';
const wall = {
  allowed: [],
  resolvers: ['192.0.2.53'],
  denied: ['192.0.2.0/24'],
  gateways: ['192.0.2.1'],
  closed: false,
};
const documentOf = (networks: PlainNetwork[]): HostNetworkDocument =>
  present({ generation: 1, networks, egress: plainEgress });
const planOf = (document: HostNetworkDocument): Plan =>
  planHost(document, {
    hash: 'abcdef',
    linkPool,
    links: assignLinks(document, linkPool, {}, new Set()),
    resolvers: ['192.0.2.53'],
    wall,
  });
const plan = (networks: PlainNetwork[]): Plan => planOf(documentOf(networks));
const only = (p: Plan, kind: WantedNamespace['kind']): WantedNamespace => {
  const found = p.namespaces.filter((n) => n.kind === kind);
  expect(found).toHaveLength(1);
  return found[0] as WantedNamespace;
};

/** Options that DHCP gives, without the tag of their subnet. */
const said = (server?: WantedDhcp): string[] =>
  (server?.config ?? []).flatMap((line) => /^dhcp-option=tag:s[0-9a-f]+,(.*)/.exec(line)?.[1] ?? []);

describe('the plan of a host', () => {
  it('is empty but for the host itself without ports', () => {
    const p = plan([network(1, [])]);
    expect(p.namespaces.map((n) => n.kind)).toEqual(['host']);
    expect(p.namespaces[0]).toMatchObject({ links: [], tables: [], sysctls: [] });
    expect(p.dhcp).toEqual([]);
  });

  it('does not depend on the order of the document', () => {
    const [a, b] = [network(1, [port(1), port(2)]), network(2, [port(3, 1)])];
    const sorted = (p: Plan): string =>
      JSON.stringify(
        p.namespaces
          .map((n) => ({
            ...n,
            links: [...n.links].sort((x, y) => x.name.localeCompare(y.name)),
            portIds: [...n.portIds].sort(),
          }))
          .sort((x, y) => String(x.netns).localeCompare(String(y.netns))),
      );
    expect(sorted(plan([b, { ...a, ports: [...a.ports].reverse() }]))).toBe(sorted(plan([a, b])));
  });

  it('gives no way out by DHCP to ports whose guest has it elsewhere', () => {
    const [first, second] = [port(1, 1), { ...port(2, 1), position: 1, defaultRoute: false }];
    const [out, both] = plan([network(1, [first]), network(2, [port(3), second])]).dhcp;
    for (const server of [out, both]) {
      const options = said(server);
      expect(options).toContain(
        'tag:!inside,option:classless-static-route,169.254.169.254/32,10.77.0.1,0.0.0.0/0,10.77.0.1',
      );
      expect(options).toContain('tag:inside,option:classless-static-route,169.254.169.254/32,10.77.0.1');
      expect(options).toContain('tag:!inside,option:router,10.77.0.1');
      expect(options).toContain('tag:inside,option:router');
    }
    const inside = (server?: WantedDhcp): string[] =>
      (server?.config ?? []).filter((line) => line.includes('set:inside'));
    expect(inside(out)).toEqual([]);
    expect(inside(both)).toEqual([`dhcp-mac=set:inside,${second.mac}`]);
  });

  it('keeps the cards of an instance in the user’s order', () => {
    const [a, b] = [
      { ...port(1, 1), position: 1 },
      { ...port(2, 1), position: 0 },
    ];
    const instance = only(plan([network(1, [a]), network(2, [b])]), 'instance');
    expect(instance.portIds).toEqual([b.id, a.id]);
  });

  it('puts both NICs of an instance in one namespace, each with its own bridge and zone', () => {
    const p = plan([network(1, [port(1, 1)]), network(2, [port(2, 1)])]);
    const instance = only(p, 'instance');
    expect(instance.links.map((l) => l.kind)).toEqual(['bridge', 'tap', 'veth', 'bridge', 'tap', 'veth']);
    expect(renderTables(instance.tables).match(/ct zone set \d+/g)).toHaveLength(2);
  });

  it('has no router and no way out without NAT', () => {
    const p = plan([network(1, [port(1)], false)]);
    expect(p.namespaces.map((n) => n.kind)).toEqual(['host', 'instance', 'network']);
    const net = only(p, 'network');
    expect(net.routes).toEqual([]);
    expect(net.sysctls).toContainEqual(['net.ipv4.ip_forward', '0']);
    expect(said(p.dhcp[0])).toContain('tag:!inside,option:classless-static-route,169.254.169.254/32,10.77.0.1');
    expect(said(p.dhcp[0])).toContain('option:dns-server');
  });

  it('hands out the host’s resolvers where the network names none', () => {
    expect(said(plan([network(1, [port(1)])]).dhcp[0])).toContain('option:dns-server,192.0.2.53');
    expect(said(plan([{ ...network(1, [port(1)]), dns: ['9.9.9.9'] }]).dhcp[0])).toContain('option:dns-server,9.9.9.9');
  });

  it('gives DHCP exactly this host’s ports', () => {
    expect(plan([network(1, [port(2), port(1)])]).dhcp[0]?.hosts).toEqual([
      '56:43:53:00:00:11,10.77.0.11,vm1,1h',
      '56:43:53:00:00:12,10.77.0.12,vm2,1h',
    ]);
  });

  it.each(['3600', '12h', 'infinite', 'ignore', 'a,b', 'a\nb', '', '-a', 'a'.repeat(64)])(
    'keeps the name %j out of the hosts file',
    (name) => expect(leasableName(name)).toBe(false),
  );
  it.each(['web', 'web-1', 'a'.repeat(63), '1h-web'])('puts the name %s in the hosts file', (name) =>
    expect(leasableName(name)).toBe(true),
  );
});

describe('a router between subnets', () => {
  const joined = (): HostNetworkDocument => {
    const document = documentOf([network(1, [port(1)]), network(2, [])]);
    const [near, far] = document.networks;
    if (!near || !far) throw new Error('no networks');
    near.subnets.push({
      id: '44444444-4444-4444-8444-444444444401',
      cidr: '10.78.0.0/24',
      gateway: '10.78.0.1',
      dns: [],
    });
    for (const subnet of far.subnets) Object.assign(subnet, { cidr: '10.79.0.0/24', gateway: '10.79.0.1' });
    document.routers = [
      {
        id: '55555555-5555-4555-8555-555555555501',
        snat: false,
        interfaces: [near, far].flatMap((n) => n.subnets.map((s) => ({ networkId: n.id, subnetId: s.id }))),
      },
    ];
    return document;
  };
  const p = planOf(joined());
  const [near, far] = p.namespaces.filter((n) => n.kind === 'network');

  it('brings a network to a host that has none of its ports', () => {
    expect(p.namespaces.map((n) => n.kind)).toEqual(['host', 'instance', 'network', 'network', 'router']);
    expect(far?.links.map((l) => l.name)).toEqual(['vbr', 'rtr0']);
    expect(p.dhcp).toHaveLength(1);
  });

  it('has a link to each network, the gateways of all subnets, and no way out without source NAT', () => {
    const router = only(p, 'router');
    expect(router.links.map((l) => l.kind)).toEqual(['veth', 'veth']);
    expect(router.routes.map((r) => r.dst).sort()).toEqual(['10.77.0.0/24', '10.78.0.0/24', '10.79.0.0/24']);
    expect(near?.links[0]?.addresses).toEqual(['10.77.0.1/24', '10.78.0.1/24', '169.254.169.254/32']);
    expect(only(p, 'host')).toMatchObject({ links: [], tables: [] });
    expect(renderTables(router.tables)).not.toContain('masquerade');
  });

  it('tells guests the way to the other subnets', () => {
    expect(said(p.dhcp[0])).toContain(
      'tag:!inside,option:classless-static-route,169.254.169.254/32,10.77.0.1,10.78.0.0/24,10.77.0.1,10.79.0.0/24,10.77.0.1',
    );
  });

  it('is no network that an agent of before understands', () => {
    expect(() => toFirstRevision(joined())).toThrow('routers between subnets');
    const plain = documentOf([network(1, [port(1)])]);
    expect(ofFirstRevision(toFirstRevision(plain) as never)).toEqual(plain);
    expect(toFirstRevision(documentOf([network(1, [port(1)], false)]))).toMatchObject({ networks: [{ nat: false }] });
  });
});

describe('rules', () => {
  const rules = renderTables(only(plan([network(1, [port(1)])]), 'instance').tables);
  it('replace the tables in one transaction', () =>
    expect(rules).toMatch(/^table bridge vcs\ndelete table bridge vcs\ntable bridge vcs \{\n/));
  it('end every line with at most one brace, as nft 1.0.6 wants', () =>
    expect(rules.split('\n').filter((l) => /\S.*\}$/.test(l) && !l.includes('{'))).toEqual([]));
  it('let a guest send as itself and as a DHCP client only', () => {
    expect(rules).toContain('ether saddr != 56:43:53:00:00:11 drop');
    expect(rules).toContain('ether type ip ip saddr 10.77.0.11 accept');
    expect(rules).toContain('ether type ip ip saddr 0.0.0.0 ip daddr 255.255.255.255 udp sport 68 udp dport 67 accept');
    expect(rules.indexOf('ether type ip udp sport 67 drop')).toBeLessThan(
      rules.indexOf('ether type ip ip saddr 10.77.0.11 accept'),
    );
  });
  it('deny new connections from outside the network', () =>
    expect(rules).toMatch(
      /policy drop;\nct state invalid drop\niifname "(b\w+)" ct state established,related accept\niifname "\1" meta mark 0x1 accept\niifname "\1" meta mark 0x2 ip saddr 10.77.0.0\/24 accept\n\}/,
    ));
});

describe('links of routers', () => {
  const document = (ids: number[]): HostNetworkDocument => documentOf(ids.map((n) => network(n, [port(n)])));
  it('keep their index and never share one', () => {
    const first = assignLinks(document([1, 2, 3]), linkPool, {}, new Set());
    expect(new Set(Object.values(first)).size).toBe(3);
    expect(assignLinks(document([2, 3, 4]), linkPool, first, new Set())).toMatchObject({
      [network(2, []).id]: first[network(2, []).id],
      [network(3, []).id]: first[network(3, []).id],
    });
  });
  it('avoid addresses of others', () => {
    const [index = -1] = Object.values(assignLinks(document([1]), linkPool, {}, new Set()));
    const { host, router } = linkAddresses(linkPool, index);
    for (const taken of [host, router])
      expect(Object.values(assignLinks(document([1]), linkPool, {}, new Set([taken])))).toEqual([(index + 1) % 32_768]);
  });
  it('are refused when the pool is used up', () =>
    expect(() => assignLinks(document([1, 2]), '100.64.0.0/31', {}, new Set())).toThrow('used up'));
});
