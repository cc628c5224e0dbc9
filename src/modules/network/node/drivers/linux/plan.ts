import { formatIpv4, parseIpv4, parseSubnet } from '../../../contract/ipv4';
import {
  type HostNetworkDocument,
  type NetworkDocument,
  type RouterDocument,
  routersByNetwork,
} from '../../../contract/host-document';
import type { SecurityGroupDocument } from '../../../contract/security-group.document';
import { nicsByInstance } from './instance-nic';
import type { HostUnderlay, NetworkOverlay } from '../../../contract/overlay-document';
import type { GuestWall } from './guest-wall';
import { planDhcp, subnetsOn, type WantedDhcp } from './dhcp-plan';
import * as names from './names';
import { overlayTable, withOverlayPeers, type OverlayPeers } from './overlay-rules';
import {
  hostTables,
  instanceTables,
  metadataAddress,
  networkTables,
  routerTables,
  type InstanceNic,
  type NftTable,
} from './nft-rules';

export interface WantedLink {
  name: string;
  kind: 'bridge' | 'tap' | 'veth' | 'vxlan';
  mtu: number;
  mac?: string;
  master?: string;
  /** `a.b.c.d/n`. */
  addresses: string[];
  /** The veth's other end. Whoever has `makesPair` creates both. `netns` null: the host's namespace. */
  peer?: { name: string; netns: string | null };
  makesPair?: boolean;
  /** Of a VXLAN device. `local`: this host's address on the underlay; `port`: UDP. */
  vxlan?: { vni: number; local: string; port: number };
}

interface WantedRoute {
  dst: string;
  via: string;
  dev: string;
}

/** One namespace as it shall be. */
export interface WantedNamespace {
  /** Null: the namespace that the agent runs in, of which only named links and one table are ours. */
  netns: string | null;
  kind: 'host' | 'instance' | 'network' | 'router';
  /** Ports that do not work when this namespace fails. */
  portIds: string[];
  links: WantedLink[];
  routes: WantedRoute[];
  /** Path below /proc/sys with dots, to value; in this order, for `ip_forward` resets others. */
  sysctls: [string, string][];
  tables: NftTable[];
  /** Of a network's namespace: what is on other hosts; absent where the network does not cross. */
  overlay?: Pick<NetworkOverlay, 'remotes'>;
}

export interface Plan {
  namespaces: WantedNamespace[];
  dhcp: WantedDhcp[];
}

export interface PlanOptions {
  hash: string;
  linkPool: string;
  /** Index of each router's link in the pool: its addresses are 2n (host) and 2n + 1 (router). */
  links: Readonly<Record<string, number>>;
  /** Handed out to networks that name no DNS server of their own and have a way out. */
  resolvers: readonly string[];
  wall: GuestWall;
}

/**
 * Ends of the link between a network and its router; the same for all, for every route over one names its link.
 */
const networkEnd = '169.254.255.1';
const routerEnd = '169.254.255.0';

const quiet: [string, string][] = [
  ['net.ipv6.conf.all.disable_ipv6', '1'],
  ['net.ipv6.conf.default.disable_ipv6', '1'],
];

const routing = (forward: boolean): [string, string][] => [
  ['net.ipv4.ip_forward', forward ? '1' : '0'],
  ...quiet,
  ['net.ipv4.conf.all.send_redirects', '0'],
  ['net.ipv4.conf.default.send_redirects', '0'],
  ['net.ipv4.conf.all.accept_redirects', '0'],
  ['net.ipv4.conf.default.accept_redirects', '0'],
  ['net.bridge.bridge-nf-call-iptables', '0'],
  ['net.bridge.bridge-nf-call-arptables', '0'],
];

/** Host and router address of a link, by its index in the pool. */
export const linkAddresses = (linkPool: string, index: number): { host: string; router: string } => {
  const { first } = parseSubnet(linkPool);
  return { host: formatIpv4(first + 2 * index), router: formatIpv4(first + 2 * index + 1) };
};

/** How many links a pool holds. */
const linkCapacity = (linkPool: string): number => 2 ** (31 - parseSubnet(linkPool).prefix);

const instanceNamespace = (
  hash: string,
  instanceId: string,
  nics: InstanceNic[],
  groups: readonly SecurityGroupDocument[],
): WantedNamespace => ({
  netns: names.instanceNetns(hash, instanceId),
  kind: 'instance',
  portIds: nics.map((n) => n.port.id),
  links: nics.flatMap(({ port, network }): WantedLink[] => [
    { name: names.portBridgeName(port.id), kind: 'bridge', mtu: network.mtu, addresses: [] },
    {
      name: names.tapName(port.id),
      kind: 'tap',
      mtu: network.mtu,
      master: names.portBridgeName(port.id),
      addresses: [],
    },
    {
      name: names.vethName(port.id),
      kind: 'veth',
      mtu: network.mtu,
      master: names.portBridgeName(port.id),
      addresses: [],
      peer: { name: names.portName(port.id), netns: names.networkNetns(hash, network.id) },
      makesPair: true,
    },
  ]),
  routes: [],
  // Bridged packets reach the inet chains through br_netfilter, whose switches are per namespace.
  sysctls: [
    ...quiet,
    ['net.ipv4.ip_forward', '0'],
    ['net.bridge.bridge-nf-call-iptables', '1'],
    ['net.bridge.bridge-nf-call-arptables', '0'],
  ],
  tables: instanceTables(nics, groups),
});

const overlayLinks = ({ mtu, overlay }: NetworkDocument, underlay: HostUnderlay | undefined): WantedLink[] =>
  underlay && overlay
    ? [
        {
          name: names.overlayLink,
          kind: 'vxlan',
          mtu,
          master: names.networkBridge,
          addresses: [],
          vxlan: { vni: overlay.vni, local: underlay.address, port: underlay.port },
        },
      ]
    : [];

const networkNamespace = (
  hash: string,
  network: NetworkDocument,
  router: RouterDocument | undefined,
  underlay: HostUnderlay | undefined,
): WantedNamespace => ({
  netns: names.networkNetns(hash, network.id),
  kind: 'network',
  portIds: network.ports.map((p) => p.id),
  links: [
    {
      name: names.networkBridge,
      kind: 'bridge',
      mtu: network.mtu,
      mac: network.gatewayMac,
      addresses: [
        ...network.subnets.map(({ gateway, cidr }) => `${gateway}/${parseSubnet(cidr).prefix}`),
        `${metadataAddress}/32`,
      ],
    },
    ...network.ports.map(
      (p): WantedLink => ({
        name: names.portName(p.id),
        kind: 'veth',
        mtu: network.mtu,
        master: names.networkBridge,
        addresses: [],
        peer: { name: names.vethName(p.id), netns: names.instanceNetns(hash, p.instanceId) },
      }),
    ),
    ...overlayLinks(network, underlay),
    ...(router
      ? [
          {
            name: names.routerLink,
            kind: 'veth' as const,
            mtu: network.mtu,
            addresses: [`${networkEnd}/31`],
            peer: { name: names.routerInside(network.id), netns: names.routerNetns(hash, router.id) },
            makesPair: true,
          },
        ]
      : []),
  ],
  routes: router ? [{ dst: 'default', via: routerEnd, dev: names.routerLink }] : [],
  sysctls: routing(router !== undefined),
  tables: [...networkTables(network, subnetsOn(router, network)), overlayTable(network.gatewayMac)],
  ...(underlay && network.overlay && { overlay: { remotes: network.overlay.remotes } }),
});

/** A router with its networks here. */
interface Routed {
  router: RouterDocument;
  networks: NetworkDocument[];
}

const portsOf = (networks: readonly NetworkDocument[]): string[] => networks.flatMap((n) => n.ports.map((p) => p.id));
/** The smallest: what is larger is not for all of its links. */
const mtuOf = (networks: readonly NetworkDocument[]): number => Math.min(...networks.map(({ mtu }) => mtu));

const routerNamespace = (options: PlanOptions, { router, networks }: Routed): WantedNamespace => {
  const link = linkAddresses(options.linkPool, options.links[router.id] ?? 0);
  return {
    netns: names.routerNetns(options.hash, router.id),
    kind: 'router',
    portIds: portsOf(networks),
    links: [
      ...networks.map((network) => ({
        name: names.routerInside(network.id),
        kind: 'veth' as const,
        mtu: network.mtu,
        addresses: [`${routerEnd}/31`],
        peer: { name: names.routerLink, netns: names.networkNetns(options.hash, network.id) },
      })),
      ...(router.snat
        ? [
            {
              name: names.routerOutside,
              kind: 'veth' as const,
              mtu: mtuOf(networks),
              addresses: [`${link.router}/31`],
              peer: { name: names.hostLinkName(options.hash, router.id), netns: null },
            },
          ]
        : []),
    ],
    routes: [
      ...networks.flatMap((network) =>
        subnetsOn(router, network).map(({ cidr }) => ({
          dst: cidr,
          via: networkEnd,
          dev: names.routerInside(network.id),
        })),
      ),
      ...(router.snat ? [{ dst: 'default', via: link.host, dev: names.routerOutside }] : []),
    ],
    sysctls: routing(true),
    tables: routerTables(
      options.linkPool,
      networks.map((network) => ({
        link: names.routerInside(network.id),
        cidrs: subnetsOn(router, network).map(({ cidr }) => cidr),
      })),
      router.snat,
    ),
  };
};

const hostNamespace = (options: PlanOptions, ways: Routed[], crossing: Crossing | null): WantedNamespace => ({
  netns: null,
  kind: 'host',
  portIds: [...new Set([...ways.flatMap(({ networks }) => portsOf(networks)), ...(crossing?.portIds ?? [])])],
  links: ways.map(({ router, networks }) => ({
    name: names.hostLinkName(options.hash, router.id),
    kind: 'veth' as const,
    mtu: mtuOf(networks),
    addresses: [`${linkAddresses(options.linkPool, options.links[router.id] ?? 0).host}/31`],
    peer: { name: names.routerOutside, netns: names.routerNetns(options.hash, router.id) },
    makesPair: true,
  })),
  routes: [],
  sysctls: ways.length > 0 ? [['net.ipv4.ip_forward', '1']] : [],
  tables: withOverlayPeers(
    ways.length > 0
      ? hostTables(
          options.hash,
          ways.map(({ router }) => linkAddresses(options.linkPool, options.links[router.id] ?? 0).router),
          options.wall,
        )
      : [],
    options.hash,
    crossing,
  ),
});

/** What crosses to other hosts. */
type Crossing = OverlayPeers & { portIds: string[] };

/** Null when no network does. */
const crossingOf = (underlay: HostUnderlay | undefined, networks: readonly NetworkDocument[]): Crossing | null => {
  const crossing = networks.filter(({ overlay }) => overlay !== undefined);
  if (!underlay || crossing.length === 0) return null;
  const hosts = crossing.flatMap(({ overlay }) => overlay?.remotes.map(({ host }) => host) ?? []);
  return { port: underlay.port, hosts: [...new Set(hosts)], portIds: portsOf(crossing) };
};

/** The networks that are on this host, and the routers that they are on. */
const onHost = (
  document: Pick<HostNetworkDocument, 'networks' | 'routers'>,
): { networks: NetworkDocument[]; routed: Routed[] } => {
  const used = new Set(document.networks.filter((n) => n.ports.length > 0).map(({ id }) => id));
  const joins = (router: RouterDocument, which: (networkId: string) => boolean): boolean =>
    router.interfaces.some(({ networkId }) => which(networkId));
  // A network without a port here is here all the same when a router leads to it from one that has.
  const routers = document.routers.filter((router) => joins(router, (id) => used.has(id)));
  const networks = document.networks.filter(
    ({ id }) => used.has(id) || routers.some((router) => joins(router, (one) => one === id)),
  );
  return {
    networks,
    routed: routers.map((router) => ({
      router,
      networks: networks.filter(({ id }) => joins(router, (one) => one === id)),
    })),
  };
};

/**
 * What the document means on this host. A pure function: names, addresses and rules of everything that shall be there.
 */
export const planHost = (document: HostNetworkDocument, options: PlanOptions): Plan => {
  const { networks, routed } = onHost(document);
  const routers = routersByNetwork(document);
  return {
    namespaces: [
      hostNamespace(
        options,
        routed.filter(({ router }) => router.snat),
        crossingOf(document.underlay, networks),
      ),
      ...[...nicsByInstance(networks, document)].map(([instanceId, nics]) =>
        instanceNamespace(options.hash, instanceId, nics, document.securityGroups ?? []),
      ),
      ...networks.map((n) => networkNamespace(options.hash, n, routers.get(n.id), document.underlay)),
      ...routed.map((one) => routerNamespace(options, one)),
    ],
    dhcp: networks
      .filter((n) => n.ports.length > 0)
      .map((n) =>
        planDhcp(
          options,
          n,
          routed.find(({ router }) => router === routers.get(n.id)),
        ),
      ),
  };
};

/** The routers whose way out needs a link here, by id. */
export const waysOutHere = (document: Pick<HostNetworkDocument, 'networks' | 'routers'>): string[] =>
  onHost(document).routed.flatMap(({ router }) => (router.snat ? [router.id] : []));

/**
 * Gives every router with a way out a link in the pool: keeps what it has, else the first free index from one derived of
 * its id on.
 * @param taken addresses that something else on the host uses
 */
export const assignLinks = (
  document: Pick<HostNetworkDocument, 'networks' | 'routers'>,
  linkPool: string,
  previous: Readonly<Record<string, number>>,
  taken: ReadonlySet<string>,
): Record<string, number> => {
  const capacity = linkCapacity(linkPool);
  const wanted = waysOutHere(document);
  const links: Record<string, number> = {};
  const used = new Set<number>();
  for (const id of wanted) {
    const had = previous[id];
    if (had === undefined || had >= capacity || used.has(had)) continue;
    links[id] = had;
    used.add(had);
  }
  for (const id of wanted) {
    if (links[id] !== undefined) continue;
    const start = parseInt(id.replaceAll('-', '').slice(-8), 16);
    for (let i = 0; i < capacity; i += 1) {
      const index = (start + i) % capacity;
      const { host, router } = linkAddresses(linkPool, index);
      if (used.has(index) || taken.has(host) || taken.has(router)) continue;
      links[id] = index;
      used.add(index);
      break;
    }
    if (links[id] === undefined) throw new Error(`the link pool ${linkPool} is used up`);
  }
  return links;
};

/** Whether an address is one of the pool. */
export const inPool = (linkPool: string, address: string): boolean => {
  const pool = parseSubnet(linkPool);
  const value = parseIpv4(address);
  return value >= pool.first && value <= pool.last;
};
