import type { NetworkDocument, PortDocument, SubnetDocument } from '../../../contract/host-document';
import type { SecurityGroupDocument } from '../../../contract/security-group.document';
import { groupFilter, hasGroups, type GroupFilter } from './group-rules';
import { fromGuest, metadataAddress, toGuest, type InstanceNic } from './instance-nic';
import { anyOf, chain, type NftTable } from './nft-table';
import type { GuestWall } from './guest-wall';
import {
  conntrackZone,
  hostLinkPrefix,
  hostTable,
  networkBridge,
  portBridgeName,
  routerLink,
  routerOutside,
  tapName,
  vethName,
} from './names';

export { metadataAddress, type InstanceNic } from './instance-nic';
export { renderTables, type NftTable } from './nft-table';

const addressesOf = (port: PortDocument): string => anyOf(port.addresses.map(({ address }) => address));

const outRules = (port: PortDocument): string[] => [
  `meta mark set ${fromGuest}`,
  `ether saddr != ${port.mac} drop`,
  `ether type arp arp saddr ether ${port.mac} arp saddr ip ${anyOf([...port.addresses.map(({ address }) => address), '0.0.0.0'])} accept`,
  'ether type ip udp sport 67 drop',
  `ether type ip ip saddr ${addressesOf(port)} accept`,
  'ether type ip ip saddr 0.0.0.0 ip daddr 255.255.255.255 udp sport 68 udp dport 67 accept',
  'drop',
];

const inRules = (port: PortDocument, network: NetworkDocument): string[] => [
  `meta mark set ${toGuest}`,
  `ether saddr ${port.mac} drop`,
  // Unicast frames for others reach every port while the bridge does not know the way.
  `ether daddr & 01:00:00:00:00:00 == 00:00:00:00:00:00 ether daddr != ${port.mac} drop`,
  'ether type arp accept',
  `ether type ip ip saddr ${addressesOf(port)} drop`,
  `ether type ip udp sport 67 ether saddr != ${network.gatewayMac} drop`,
  'ether type ip accept',
  'drop',
];

/**
 * Of ports whose groups are not said, as by management of before groups: out is allowed; in only answers and new
 * connections from the same network, and from subnets joined with it. DHCP is broadcast and so never `established`: it passes as traffic of the network.
 */
const withoutGroups = ({ port, network, joined }: InstanceNic): string[] => {
  const neighbours = [...network.subnets.map(({ cidr }) => cidr), ...joined.flatMap(({ subnets }) => subnets)];
  const nic = `iifname "${portBridgeName(port.id)}"`;
  return [
    `${nic} ct state established,related accept`,
    `${nic} meta mark ${fromGuest} accept`,
    `${nic} meta mark ${toGuest} ip saddr ${anyOf(neighbours)} accept`,
  ];
};

/**
 * What a guest may send and receive. The bridge table: its own MAC and addresses only (frames and ARP), DHCP from the
 * network's own service only, IPv4 and ARP only (so no router advertisements, no VLAN tags). The `inet` table: what the
 * groups of its ports allow.
 */
export const instanceTables = (
  nics: readonly InstanceNic[],
  groups: readonly SecurityGroupDocument[] = [],
): NftTable[] => [
  {
    family: 'bridge',
    name: 'vcs',
    body: [
      ...nics.flatMap(({ port, network }) => [
        ...chain(`out_${tapName(port.id)}`, outRules(port)),
        ...chain(`in_${vethName(port.id)}`, inRules(port, network)),
      ]),
      ...chain('prerouting', [
        'type filter hook prerouting priority -300; policy drop;',
        ...nics.flatMap(({ port }) => [
          `iifname "${tapName(port.id)}" jump out_${tapName(port.id)}`,
          `iifname "${vethName(port.id)}" jump in_${vethName(port.id)}`,
        ]),
      ]),
    ],
  },
  instanceFilter(nics, groupFilter(nics, groups)),
];

const instanceFilter = (nics: readonly InstanceNic[], groups: GroupFilter): NftTable => ({
  family: 'inet',
  name: 'vcs',
  ...(groups.sets.length > 0 && { sets: groups.sets }),
  body: [
    ...groups.chains,
    ...chain('zones', [
      'type filter hook prerouting priority -300; policy accept;',
      ...nics.map(({ port }) => `iifname "${portBridgeName(port.id)}" ct zone set ${conntrackZone(port.id)}`),
    ]),
    ...chain('forward', [
      'type filter hook forward priority 0; policy drop;',
      'ct state invalid drop',
      ...nics.filter((nic) => !hasGroups(nic)).flatMap(withoutGroups),
      ...groups.forward,
    ]),
    ...chain('input', ['type filter hook input priority 0; policy drop;']),
    ...chain('output', ['type filter hook output priority 0; policy drop;']),
  ],
});

const cidrsOf = (subnets: readonly SubnetDocument[]): string => anyOf(subnets.map(({ cidr }) => cidr));

/**
 * The network's namespace answers DHCP, metadata and pings, and forwards between its subnets that are on a router, and
 * between them and the router: by addresses alone, for the answer to what goes out here may come back through the router
 * of another host.
 */
export const networkTables = (network: NetworkDocument, routed: readonly SubnetDocument[]): NftTable[] => {
  const own = `iifname "${networkBridge}" ip saddr ${cidrsOf(network.subnets)}`;
  const between = routed.length > 0 ? cidrsOf(routed) : '';
  return [
    {
      family: 'inet',
      name: 'vcs',
      body: [
        ...chain('input', [
          'type filter hook input priority 0; policy drop;',
          'ct state established,related accept',
          'iifname "lo" accept',
          `iifname "${networkBridge}" udp sport 68 udp dport 67 accept`,
          `${own} ip daddr ${metadataAddress} tcp dport 80 accept`,
          `${own} icmp type echo-request accept`,
        ]),
        ...chain('forward', [
          'type filter hook forward priority 0; policy drop;',
          ...(routed.length > 0
            ? [
                `iifname "${networkBridge}" oifname "${routerLink}" ip saddr ${between} ip daddr != 169.254.0.0/16 accept`,
                `iifname "${routerLink}" oifname "${networkBridge}" ip daddr ${between} accept`,
              ]
            : []),
          ...(routed.length > 1
            ? [`iifname "${networkBridge}" oifname "${networkBridge}" ip saddr ${between} ip daddr ${between} accept`]
            : []),
        ]),
      ],
    },
  ];
};

/** One of a router's networks: the link to it, and its subnets that are on the router. */
export interface RouterSide {
  link: string;
  cidrs: readonly string[];
}

/**
 * Between its subnets everything passes, by addresses alone, for each host has this router and sees what its own guests
 * send: what reaches a guest is its own port's to say. With a way out, source NAT to the
 * link's address, which is unique on the host: networks with the same addresses never meet. Nobody outside opens a
 * connection.
 */
export const routerTables = (linkPool: string, sides: readonly RouterSide[], snat: boolean): NftTable[] => [
  {
    family: 'inet',
    name: 'vcs',
    body: [
      ...chain('input', [
        'type filter hook input priority 0; policy drop;',
        'ct state established,related accept',
        ...sides.map(({ link }) => `iifname "${link}" icmp type echo-request accept`),
      ]),
      ...chain('forward', [
        'type filter hook forward priority 0; policy drop;',
        ...sides.map(({ link, cidrs }) => `iifname "${link}" ip saddr != ${anyOf(cidrs)} drop`),
        ...(sides.length > 1
          ? sides.map(
              ({ link, cidrs }) =>
                `iifname ${anyOf(sides.filter((other) => other.link !== link).map((other) => `"${other.link}"`))} oifname "${link}" ip daddr ${anyOf(cidrs)} accept`,
            )
          : []),
        'ct state established,related accept',
        'ct state invalid drop',
        ...(snat
          ? sides.map(
              ({ link }) =>
                `iifname "${link}" oifname "${routerOutside}" ip daddr != { 127.0.0.0/8, 169.254.0.0/16, ${linkPool} } accept`,
            )
          : []),
      ]),
      ...(snat
        ? chain('postrouting', [
            'type nat hook postrouting priority 100; policy accept;',
            `oifname "${routerOutside}" masquerade`,
          ])
        : []),
    ],
  },
];

const set = (name: string, elements: readonly string[], flags: readonly string[] = []): string[] => [
  `set ${name} {`,
  'type ipv4_addr',
  ...flags,
  ...(elements.length > 0 ? [`elements = { ${[...elements].sort().join(', ')} }`] : []),
  '}',
];
const intervals = ['flags interval', 'auto-merge'];

/**
 * In the host's own namespace: masquerading for the routers' link addresses, and a wall. Guests reach neither the host
 * itself (management, node verbs, ssh), nor the cloud's other machines, nor the networks that the host is directly
 * connected to, nor each other's routers; what is left leaves through the uplink's gateway. Nobody opens a connection
 * towards them.
 */
export const hostTables = (hash: string, routerAddresses: readonly string[], wall: GuestWall): NftTable[] => {
  const links = `"${hostLinkPrefix(hash)}*"`;
  const exceptions = ['ip daddr @allowed accept', 'ip daddr @resolvers meta l4proto { tcp, udp } th dport 53 accept'];
  return [
    {
      family: 'inet',
      name: hostTable(hash),
      body: [
        ...set('routers', routerAddresses),
        ...set('allowed', wall.allowed, intervals),
        ...set('resolvers', wall.resolvers),
        ...set('denied', wall.denied, intervals),
        ...set('gateways', wall.gateways ?? []),
        ...chain('input', [
          'type filter hook input priority -10; policy accept;',
          `iifname != ${links} accept`,
          'ct state established,related accept',
          ...exceptions,
          'drop',
        ]),
        ...chain('egress', [
          ...exceptions,
          // At once and in words, so that a guest's program does not wait for its deadline.
          'ip daddr @denied reject with icmpx type admin-prohibited',
          ...(wall.closed ? ['reject with icmpx type admin-prohibited'] : []),
          // Static routes of the host to other networks are no way out for guests.
          ...(wall.gateways === null ? [] : ['rt ip nexthop != @gateways reject with icmpx type admin-prohibited']),
        ]),
        ...chain('forward', [
          'type filter hook forward priority -10; policy accept;',
          `iifname ${links} oifname ${links} drop`,
          `iifname ${links} ip saddr != @routers drop`,
          `iifname ${links} jump egress`,
          `oifname ${links} ct state established,related accept`,
          `oifname ${links} drop`,
        ]),
        ...chain('postrouting', [
          'type nat hook postrouting priority 100; policy accept;',
          `ip saddr @routers oifname != ${links} masquerade`,
        ]),
      ],
    },
  ];
};
