import { NotUnderstood } from '../../../core/m2m/verbs/not-understood';
import { ofFirstRevision, type HostNetworkDocument, type PortDocument } from './host-document';
import { withoutSecurityGroups } from './host-document-older';
import type { RuleDocument } from './security-group.document';

const id = (kind: number, n: number): string => `${String(kind).repeat(8)}-1111-4111-8111-1111111111${10 + n}`;
const [defaultGroup, web] = [id(4, 1), id(4, 2)];
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
const [out, members] = [rule({ direction: 'egress' }), rule({ group: defaultGroup })];
const plain = ofFirstRevision({
  generation: 7,
  egress: { allow: [], deny: [], hosts: [] },
  networks: [
    {
      id: id(1, 1),
      subnet: '10.0.0.0/24',
      gateway: '10.0.0.1',
      gatewayMac: '56:43:47:00:00:01',
      dns: [],
      domain: 'd',
      mtu: 1450,
      nat: true,
      ports: [1, 2].map((n) => ({
        id: id(2, n),
        instanceId: id(3, n),
        mac: `56:43:53:00:00:0${n}`,
        address: `10.0.0.1${n}`,
        hostname: `vm${n}`,
        position: 0,
        defaultRoute: true,
      })),
    },
  ],
});

/** Two ports of a network, in these groups, whose default one has these rules. */
const document = (groups: string[][], rules: RuleDocument[]): HostNetworkDocument => ({
  ...plain,
  networks: plain.networks.map((network) => ({
    ...network,
    ports: network.ports.map((port, i): PortDocument => ({ ...port, securityGroups: groups[i] ?? [] })),
  })),
  securityGroups: [
    { id: defaultGroup, rules, members: [] },
    { id: web, rules: [rule({ protocol: 6 })], members: [] },
  ],
});
const both = [[defaultGroup], [defaultGroup]];

describe('for an agent that knows no security groups', () => {
  it.each<[string, string[][], RuleDocument[]]>([
    [
      'all are in the default one as it was made',
      both,
      [out, members, rule({ ethertype: 'ipv6', group: defaultGroup })],
    ],
    ['all are open to everybody', both, [out, rule({})]],
    [
      'all are open to every address',
      both,
      [rule({ direction: 'egress', cidr: '0.0.0.0/0' }), rule({ cidr: '0.0.0.0/0' })],
    ],
    ['others allow more beside it', [[defaultGroup, web], [defaultGroup]], [out, members]],
  ])('ports are written without where %s', (_, groups, rules) => {
    expect(withoutSecurityGroups(document(groups, rules))).toEqual(plain);
  });

  it.each<[string, string[][], RuleDocument[]]>([
    ['one is in another', [[defaultGroup], [web]], [out, members]],
    ['one is in none', [[defaultGroup], []], [out, members]],
    ['nobody is let in', both, [out]],
    ['not everything is let out', both, [rule({ direction: 'egress', protocol: 6 }), members]],
    ['only IPv6 is let out', both, [rule({ direction: 'egress', ethertype: 'ipv6' }), members]],
    ['a part is let in', both, [out, rule({ protocol: 6 })]],
    ['a network is let in', both, [out, rule({ cidr: '10.0.0.0/24' })]],
    ['members of another are let in', both, [out, rule({ group: web })]],
  ])('documents are refused where %s', (_, groups, rules) => {
    expect(() => withoutSecurityGroups(document(groups, rules))).toThrow(NotUnderstood);
  });

  it('documents of before groups stay as they are', () => {
    expect(withoutSecurityGroups({ ...plain })).toEqual(plain);
  });
});
