import type { NetworkDocument } from '../../../contract/host-document';
import type { RuleDocument, SecurityGroupDocument } from '../../../contract/security-group.document';
import { groupFilter } from './group-rules';
import type { InstanceNic } from './instance-nic';

const id = (kind: number, n: number): string => `${String(kind).repeat(8)}-1111-4111-8111-1111111111${10 + n}`;
const [web, db] = [id(4, 1), id(4, 2)];
const rule = (given: Partial<RuleDocument>): RuleDocument => ({
  direction: 'ingress',
  ethertype: 'ipv4',
  protocol: null,
  ports: null,
  icmp: null,
  cidr: null,
  group: null,
  ...given,
});
const network = (n: number): NetworkDocument => ({
  id: id(1, n),
  gatewayMac: '56:43:47:00:00:01',
  domain: 'd',
  mtu: 1450,
  subnets: [{ id: id(5, n), cidr: `10.${n}.0.0/24`, gateway: `10.${n}.0.1`, dns: [] }],
  ports: [],
});
const nic = (n: number, securityGroups: string[], joined: InstanceNic['joined'] = []): InstanceNic => ({
  network: network(n),
  joined,
  port: {
    id: id(2, n),
    instanceId: id(3, 1),
    mac: '56:43:53:00:00:01',
    addresses: [{ subnetId: id(5, n), address: `10.${n}.0.10` }],
    hostname: 'vm',
    position: n,
    defaultRoute: true,
    securityGroups,
  },
});
const groups = (rules: RuleDocument[], members: SecurityGroupDocument['members']): SecurityGroupDocument[] => [
  { id: web, rules, members: [] },
  { id: db, rules: [], members },
];
const elements = (filter: ReturnType<typeof groupFilter>): Record<string, string[]> =>
  Object.fromEntries(filter.sets.filter(({ name }) => /^m[46]_/.test(name)).map((set) => [set.name, set.elements]));

describe('members of a group', () => {
  const both = [rule({ group: db }), rule({ group: db, ethertype: 'ipv6' })];

  it('are those of the network of each card: another network of the project may have the same addresses', () => {
    const members = [
      { networkId: id(1, 1), addresses: ['10.1.0.20', '2001:db8::20'] },
      { networkId: id(1, 2), addresses: ['10.1.0.20', '10.2.0.20'] },
      { networkId: id(1, 3), addresses: ['10.1.0.30'] },
    ];
    expect(elements(groupFilter([nic(1, [web]), nic(2, [])], groups(both, members)))).toEqual({
      m4_111111111112_111111111111: ['10.1.0.20'],
      m6_111111111112_111111111111: ['2001:db8::20'],
    });
  });

  it('are also those of subnets that its router joins, and not of others there', () => {
    const members = [
      { networkId: id(1, 1), addresses: ['10.1.0.20'] },
      { networkId: id(1, 2), addresses: ['10.2.0.20', '10.1.0.66'] },
    ];
    const joined = [{ networkId: id(1, 2), subnets: ['10.2.0.0/24'] }];
    expect(elements(groupFilter([nic(1, [web], joined)], groups(both.slice(0, 1), members)))).toEqual({
      m4_111111111112_111111111111: ['10.1.0.20', '10.2.0.20'],
    });
  });

  it('change nothing but sets, and which flows are judged anew', () => {
    const [before, after] = [['10.1.0.20'], ['10.1.0.20', '10.1.0.21']].map((addresses) =>
      groupFilter([nic(1, [web])], groups(both, [{ networkId: id(1, 1), addresses }])),
    );
    expect(after?.chains).toEqual(before?.chains);
    expect(after?.forward).toEqual(before?.forward);
    const changed = after?.sets.filter((set, i) => set.elements.join() !== before?.sets[i]?.elements.join());
    expect(changed?.map(({ name }) => name)).toEqual(['m4_111111111112_111111111111', 'in_force', 'marks']);
  });
});

describe('rules', () => {
  const lines = (rules: RuleDocument[]): string[] =>
    groupFilter([nic(1, [web])], groups(rules, [])).chains.filter((line) => line.endsWith('goto judged'));
  const always = lines([]);

  it.each<[string, Partial<RuleDocument>, string]>([
    ['anything', {}, 'meta nfproto ipv4 goto judged'],
    ['a protocol', { protocol: 47 }, 'meta nfproto ipv4 ct original protocol 47 goto judged'],
    [
      'a port',
      { protocol: 6, ports: { min: 80, max: 80 } },
      'meta nfproto ipv4 ct original protocol 6 ct original proto-dst 80 goto judged',
    ],
    [
      'ports',
      { protocol: 17, ports: { min: 0, max: 65_535 } },
      'meta nfproto ipv4 ct original protocol 17 ct original proto-dst 0-65535 goto judged',
    ],
    [
      'a type',
      { protocol: 1, icmp: { type: 8, code: null } },
      'meta nfproto ipv4 ct original protocol 1 ct original proto-dst 2048-2303 goto judged',
    ],
    [
      'a code',
      { protocol: 58, ethertype: 'ipv6', icmp: { type: 128, code: 1 } },
      'meta nfproto ipv6 ct original protocol 58 ct original proto-dst 32769 goto judged',
    ],
    ['a network', { cidr: '10.0.0.0/8' }, 'meta nfproto ipv4 ct original ip saddr 10.0.0.0/8 goto judged'],
    [
      'a network, outwards',
      { direction: 'egress', ethertype: 'ipv6', cidr: '2001:db8::/32' },
      'meta nfproto ipv6 ct original ip6 daddr 2001:db8::/32 goto judged',
    ],
    ['every network', { ethertype: 'ipv6', cidr: '::/0' }, 'meta nfproto ipv6 goto judged'],
    ['a group', { group: db }, 'meta nfproto ipv4 ct original ip saddr @m4_111111111112_111111111111 goto judged'],
  ])('of %s are one line', (_, given, line) => {
    expect(lines([rule(given)]).filter((one) => !always.includes(one))).toEqual([line]);
  });

  it('that several groups share are there once, and ports without groups have no filter of these', () => {
    const twice: SecurityGroupDocument[] = [web, db].map((one) => ({ id: one, rules: [rule({})], members: [] }));
    const { chains } = groupFilter([nic(1, [web, db])], twice);
    expect(chains.filter((line) => line === 'meta nfproto ipv4 goto judged')).toHaveLength(1);
    const { securityGroups: _groups, ...port } = nic(1, []).port;
    expect(groupFilter([{ ...nic(1, []), port }], twice)).toEqual({ sets: [], chains: [], forward: [] });
  });
});
