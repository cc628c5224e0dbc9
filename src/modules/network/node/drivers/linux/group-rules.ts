import { createHash } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { contains, parseIpv4, parseSubnet } from '../../../contract/ipv4';
import type { RuleDocument, SecurityGroupDocument } from '../../../contract/security-group.document';
import { fromGuest, metadataAddress, toGuest, type InstanceNic } from './instance-nic';
import { portBridgeName, tail } from './names';
import { anyOf, chain, type NftSet } from './nft-table';

/**
 * Security groups in the kernel. Every packet is judged by the first packet of its flow (`ct original`), so that a flow
 * passes in both directions or in none, also one that was open before its rule went. What was allowed is marked with a
 * fingerprint of rules and members; while that is in force, packets of the flow pass by their mark.
 */
export interface GroupFilter {
  sets: NftSet[];
  /** Whole chains. */
  chains: string[];
  /** Rules at the end of the forward chain. */
  forward: string[];
}

/** A NIC whose port is in groups, or by its document in none; of older management it says nothing of them. */
export const hasGroups = ({ port }: InstanceNic): boolean => port.securityGroups !== undefined;

const family = { ipv4: 'ip', ipv6: 'ip6' } as const;
const digit = { ipv4: '4', ipv6: '6' } as const;

const setName = (group: string, network: string, ethertype: RuleDocument['ethertype']): string =>
  `m${digit[ethertype]}_${tail(group)}_${tail(network)}`;

/** As one number, as the kernel has type and code where other protocols have their ports. */
const icmpMatch = ({ type, code }: NonNullable<RuleDocument['icmp']>): string => {
  const first = type * 256 + (code ?? 0);
  return `ct original proto-dst ${code === null ? `${first}-${first + 255}` : first}`;
};

const otherEnd = (rule: RuleDocument, network: string): string[] => {
  const address = `ct original ${family[rule.ethertype]} ${rule.direction === 'ingress' ? 'saddr' : 'daddr'}`;
  if (rule.group !== null) return [`${address} @${setName(rule.group, network, rule.ethertype)}`];
  // Nothing to compare, and nft takes no prefix of nothing.
  return rule.cidr === null || rule.cidr.endsWith('/0') ? [] : [`${address} ${rule.cidr}`];
};

const ruleLine = (rule: RuleDocument, network: string): string =>
  [
    `meta nfproto ${rule.ethertype}`,
    ...(rule.protocol === null ? [] : [`ct original protocol ${rule.protocol}`]),
    ...otherEnd(rule, network),
    ...(rule.ports === null
      ? []
      : [
          `ct original proto-dst ${rule.ports.min === rule.ports.max ? rule.ports.min : `${rule.ports.min}-${rule.ports.max}`}`,
        ]),
    ...(rule.icmp === null ? [] : [icmpMatch(rule.icmp)]),
    'goto judged',
  ].join(' ');

const flow = (protocol: number, ...rest: string[]): string =>
  ['meta nfproto ipv4', `ct original protocol ${protocol}`, ...rest, 'goto judged'].join(' ');

/** What every guest needs of its network, whatever its groups say. */
const services = (network: InstanceNic['network']): { in: string[]; out: string[] } => ({
  in: [
    flow(17, 'ct original proto-src 67', 'ct original proto-dst 68'),
    // The host's own end of the network, which nobody else has: its operator comes by it.
    `meta nfproto ipv4 ct original ip saddr ${anyOf(network.subnets.map(({ gateway }) => gateway))} goto judged`,
  ],
  out: [
    flow(17, 'ct original proto-src 68', 'ct original proto-dst 67'),
    flow(6, `ct original ip daddr ${metadataAddress}`, 'ct original proto-dst 80'),
  ],
});

const distinct = (lines: readonly string[]): string[] => [...new Set(lines)].sort();

const inOneOf = (subnets: readonly string[], address: string): boolean =>
  isIPv4(address) && subnets.some((cidr) => contains(parseSubnet(cidr), parseIpv4(address)));

/**
 * Members that a NIC can hear as themselves: of its own network, and of subnets that its router joins. Other networks of
 * the project may have the same addresses, which are somebody else's here.
 */
const membersFor = (
  { network, joined }: Pick<InstanceNic, 'network' | 'joined'>,
  members: SecurityGroupDocument['members'],
): string[] =>
  members.flatMap(({ networkId, addresses }) => {
    if (networkId === network.id) return addresses;
    const subnets = joined.find((other) => other.networkId === networkId)?.subnets ?? [];
    return addresses.filter((address) => inOneOf(subnets, address));
  });

const memberSets = (
  nics: readonly { nic: InstanceNic; rules: readonly RuleDocument[] }[],
  groups: ReadonlyMap<string, SecurityGroupDocument>,
): NftSet[] => {
  const sets = new Map<string, NftSet>();
  for (const { nic, rules } of nics)
    for (const { group, ethertype } of rules) {
      if (group === null) continue;
      const name = setName(group, nic.network.id, ethertype);
      const members = membersFor(nic, groups.get(group)?.members ?? []);
      sets.set(name, {
        kind: 'set',
        name,
        type: ethertype === 'ipv4' ? 'ipv4_addr' : 'ipv6_addr',
        elements: [...new Set(members.filter((one) => isIPv4(one) === (ethertype === 'ipv4')))].sort(),
      });
    }
  return [...sets.values()].sort((a, b) => a.name.localeCompare(b.name));
};

/** Of rules and members: what was allowed under another one is judged anew. Never 0, which flows are born with. */
const fingerprint = (what: unknown): string =>
  `0x${(1 + (parseInt(createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 8), 16) % 0xfffffffe)).toString(16).padStart(8, '0')}`;

const dispatch = ({ port }: InstanceNic): string => {
  const [into, out] = [`in_${portBridgeName(port.id)}`, `out_${portBridgeName(port.id)}`];
  return `iifname "${portBridgeName(port.id)}" meta mark . ct direction vmap { ${toGuest} . original : goto ${into}, ${fromGuest} . reply : goto ${into}, ${fromGuest} . original : goto ${out}, ${toGuest} . reply : goto ${out} }`;
};

/** Filters of an instance's NICs whose ports have groups. Nothing passes that no rule allows. */
export const groupFilter = (all: readonly InstanceNic[], documents: readonly SecurityGroupDocument[]): GroupFilter => {
  const groups = new Map(documents.map((group) => [group.id, group]));
  const nics = all.filter(hasGroups);
  if (nics.length === 0) return { sets: [], chains: [], forward: [] };
  const ofNics = nics.map((nic) => ({
    nic,
    rules: (nic.port.securityGroups ?? []).flatMap((id) => groups.get(id)?.rules ?? []),
  }));
  const chains = nics.flatMap(({ port, network }, index) => {
    const rules = ofNics[index]?.rules ?? [];
    const lines = (direction: RuleDocument['direction']): string[] =>
      distinct(rules.filter((rule) => rule.direction === direction).map((rule) => ruleLine(rule, network.id)));
    return [
      ...chain(`in_${portBridgeName(port.id)}`, [...services(network).in, ...lines('ingress')]),
      ...chain(`out_${portBridgeName(port.id)}`, [...services(network).out, ...lines('egress')]),
    ];
  });
  const members = memberSets(ofNics, groups);
  const forward = nics.map(dispatch);
  const mark = fingerprint([members, chains, forward]);
  return {
    sets: [
      ...members,
      { kind: 'set', name: 'in_force', type: 'mark', elements: [mark] },
      {
        kind: 'map',
        name: 'marks',
        type: 'mark : mark',
        elements: [fromGuest, toGuest].map((from) => `${from} : ${mark}`),
      },
    ],
    chains: [...chain('judged', ['ct mark set meta mark map @marks', 'accept']), ...chains],
    forward: ['ct mark @in_force accept', ...forward],
  };
};
