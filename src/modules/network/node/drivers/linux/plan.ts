import { formatIpv4, netmask, parseIpv4, parseSubnet } from '../../../contract/ipv4';
import type { HostNetworkDocument, NetworkDocument } from '../../../contract/network.verbs';
import type { GuestWall } from './guest-wall';
import * as names from './names';
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
  kind: 'bridge' | 'tap' | 'veth';
  mtu: number;
  mac?: string;
  master?: string;
  /** `a.b.c.d/n`. */
  addresses: string[];
  /** The veth's other end. Whoever has `makesPair` creates both. `netns` null: the host's namespace. */
  peer?: { name: string; netns: string | null };
  makesPair?: boolean;
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
}

/** DHCP of one network: the server's configuration and its hosts file. */
export interface WantedDhcp {
  networkId: string;
  netns: string;
  portIds: string[];
  config: string[];
  hosts: string[];
}

export interface Plan {
  namespaces: WantedNamespace[];
  dhcp: WantedDhcp[];
}

export interface PlanOptions {
  hash: string;
  linkPool: string;
  /** Index of each network's link in the pool: its addresses are 2n (host) and 2n + 1 (router). */
  links: Readonly<Record<string, number>>;
  /** Handed out to networks that name no DNS server of their own and have a way out. */
  resolvers: readonly string[];
  wall: GuestWall;
}

/**
 * Ends of the link between network and router; the same everywhere, for nothing else lives in these two namespaces'
 * routing.
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

const instanceNamespace = (hash: string, instanceId: string, nics: InstanceNic[]): WantedNamespace => ({
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
  tables: instanceTables(nics),
});

const networkNamespace = (hash: string, network: NetworkDocument): WantedNamespace => {
  const { prefix } = parseSubnet(network.subnet);
  return {
    netns: names.networkNetns(hash, network.id),
    kind: 'network',
    portIds: network.ports.map((p) => p.id),
    links: [
      {
        name: names.networkBridge,
        kind: 'bridge',
        mtu: network.mtu,
        mac: network.gatewayMac,
        addresses: [`${network.gateway}/${prefix}`, `${metadataAddress}/32`],
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
      ...(network.nat
        ? [
            {
              name: names.routerLink,
              kind: 'veth' as const,
              mtu: network.mtu,
              addresses: [`${networkEnd}/31`],
              peer: { name: names.routerInside, netns: names.routerNetns(hash, network.id) },
              makesPair: true,
            },
          ]
        : []),
    ],
    routes: network.nat ? [{ dst: 'default', via: routerEnd, dev: names.routerLink }] : [],
    sysctls: routing(network.nat),
    tables: networkTables(network),
  };
};

const routerNamespace = (options: PlanOptions, network: NetworkDocument): WantedNamespace => {
  const link = linkAddresses(options.linkPool, options.links[network.id] ?? 0);
  return {
    netns: names.routerNetns(options.hash, network.id),
    kind: 'router',
    portIds: network.ports.map((p) => p.id),
    links: [
      {
        name: names.routerInside,
        kind: 'veth',
        mtu: network.mtu,
        addresses: [`${routerEnd}/31`],
        peer: { name: names.routerLink, netns: names.networkNetns(options.hash, network.id) },
      },
      {
        name: names.routerOutside,
        kind: 'veth',
        mtu: network.mtu,
        addresses: [`${link.router}/31`],
        peer: { name: names.hostLinkName(options.hash, network.id), netns: null },
      },
    ],
    routes: [
      { dst: network.subnet, via: networkEnd, dev: names.routerInside },
      { dst: 'default', via: link.host, dev: names.routerOutside },
    ],
    sysctls: routing(true),
    tables: routerTables(options.linkPool),
  };
};

const hostNamespace = (options: PlanOptions, routed: NetworkDocument[]): WantedNamespace => ({
  netns: null,
  kind: 'host',
  portIds: routed.flatMap((n) => n.ports.map((p) => p.id)),
  links: routed.map((network) => ({
    name: names.hostLinkName(options.hash, network.id),
    kind: 'veth' as const,
    mtu: network.mtu,
    addresses: [`${linkAddresses(options.linkPool, options.links[network.id] ?? 0).host}/31`],
    peer: { name: names.routerOutside, netns: names.routerNetns(options.hash, network.id) },
    makesPair: true,
  })),
  routes: [],
  sysctls: routed.length > 0 ? [['net.ipv4.ip_forward', '1']] : [],
  tables:
    routed.length > 0
      ? hostTables(
          options.hash,
          routed.map((n) => linkAddresses(options.linkPool, options.links[n.id] ?? 0).router),
          options.wall,
        )
      : [],
});

/**
 * A name that dnsmasq reads as one: a label that is no lease time and no keyword of its hosts file. Other guests learn
 * theirs from metadata.
 */
export const leasableName = (name: string): boolean =>
  /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(name) && !/^([0-9]+[smhdw]?|infinite|ignore)$/i.test(name);

/** DNS servers that guests of a network are given: its own, or the host's where it names none and has a way out. */
export const nameServers = (network: NetworkDocument, resolvers: readonly string[]): readonly string[] =>
  network.dns.length > 0 ? network.dns : network.nat ? resolvers : [];

const dhcp = (options: PlanOptions, network: NetworkDocument): WantedDhcp => {
  const { first, prefix } = parseSubnet(network.subnet);
  const dns = nameServers(network, options.resolvers);
  const toMetadata = `${metadataAddress}/32,${network.gateway}`;
  const toAll = network.nat ? `,0.0.0.0/0,${network.gateway}` : '';
  const inside = network.nat ? network.ports.filter((p) => !p.defaultRoute) : [];
  return {
    networkId: network.id,
    netns: names.networkNetns(options.hash, network.id),
    portIds: network.ports.map((p) => p.id),
    config: [
      'port=0',
      `interface=${names.networkBridge}`,
      'except-interface=lo',
      'bind-interfaces',
      'no-ping',
      'quiet-dhcp',
      // A client is its MAC: clones of one image carry the same client id.
      'dhcp-ignore-clid',
      // Addresses come from the hosts file alone: a lost lease file loses nothing, and a client's renewal is answered
      // without one.
      'dhcp-authoritative',
      'dhcp-lease-max=65536',
      `dhcp-range=${formatIpv4(first)},static,${netmask(prefix)},1h`,
      `dhcp-option=option:classless-static-route,${toMetadata}${toAll}`,
      // Without a value: nothing is sent, where dnsmasq would name itself.
      network.nat ? `dhcp-option=option:router,${network.gateway}` : 'dhcp-option=option:router',
      // Guests whose way out is another of their cards. Not by tags in the hosts file: dnsmasq 2.90 aborts when it
      // reads one again that has a lease.
      ...inside.map((p) => `dhcp-mac=set:inside,${p.mac}`).sort(),
      ...(inside.length > 0
        ? [`dhcp-option=tag:inside,option:classless-static-route,${toMetadata}`, 'dhcp-option=tag:inside,option:router']
        : []),
      dns.length > 0 ? `dhcp-option=option:dns-server,${dns.join(',')}` : 'dhcp-option=option:dns-server',
      // 26, the interface's MTU, also for clients that do not ask for it.
      `dhcp-option-force=option:mtu,${network.mtu}`,
      `domain=${network.domain}`,
    ],
    hosts: network.ports
      .map((p) => [p.mac, p.address, ...(leasableName(p.hostname) ? [p.hostname] : []), '1h'].join(','))
      .sort(),
  };
};

/**
 * What the document means on this host. A pure function: names, addresses and rules of everything that shall be there.
 */
export const planHost = (document: HostNetworkDocument, options: PlanOptions): Plan => {
  const networks = document.networks.filter((n) => n.ports.length > 0);
  const byInstance = new Map<string, InstanceNic[]>();
  for (const network of networks) {
    for (const port of network.ports) {
      const nics = byInstance.get(port.instanceId) ?? [];
      nics.push({ port, network });
      byInstance.set(port.instanceId, nics);
    }
  }
  for (const nics of byInstance.values())
    nics.sort((a, b) => a.port.position - b.port.position || a.port.id.localeCompare(b.port.id));
  const routed = networks.filter((n) => n.nat);
  return {
    namespaces: [
      hostNamespace(options, routed),
      ...[...byInstance].map(([instanceId, nics]) => instanceNamespace(options.hash, instanceId, nics)),
      ...networks.map((n) => networkNamespace(options.hash, n)),
      ...routed.map((n) => routerNamespace(options, n)),
    ],
    dhcp: networks.map((n) => dhcp(options, n)),
  };
};

/**
 * Gives every routed network a link in the pool: keeps what it has, else the first free index from one derived of its
 * id on.
 * @param taken addresses that something else on the host uses
 */
export const assignLinks = (
  document: HostNetworkDocument,
  linkPool: string,
  previous: Readonly<Record<string, number>>,
  taken: ReadonlySet<string>,
): Record<string, number> => {
  const capacity = linkCapacity(linkPool);
  const wanted = document.networks.filter((n) => n.nat && n.ports.length > 0);
  const links: Record<string, number> = {};
  const used = new Set<number>();
  for (const { id } of wanted) {
    const had = previous[id];
    if (had === undefined || had >= capacity || used.has(had)) continue;
    links[id] = had;
    used.add(had);
  }
  for (const { id } of wanted) {
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
