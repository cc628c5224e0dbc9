import { formatIpv4, netmask, parseSubnet } from '../../../contract/ipv4';
import type { NetworkDocument, RouterDocument, SubnetDocument } from '../../../contract/host-document';
import * as names from './names';
import { metadataAddress } from './nft-rules';

/** DHCP of one network: the server's configuration and its hosts file. */
export interface WantedDhcp {
  networkId: string;
  netns: string;
  portIds: string[];
  config: string[];
  hosts: string[];
}

/** What a guest gets by DHCP. */
const firstAddress = (port: NetworkDocument['ports'][number]): string => {
  const [first] = port.addresses;
  if (!first) throw new Error(`the port ${port.id} has no address`);
  return first.address;
};

/** A network's subnets that are on the router. */
export const subnetsOn = (router: RouterDocument | undefined, network: NetworkDocument): SubnetDocument[] =>
  network.subnets.filter(({ id }) => router?.interfaces.some(({ subnetId }) => subnetId === id));

/**
 * A name that dnsmasq reads as one: a label that is no lease time and no keyword of its hosts file. Other guests learn
 * theirs from metadata.
 */
export const leasableName = (name: string): boolean =>
  /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(name) && !/^([0-9]+[smhdw]?|infinite|ignore)$/i.test(name);

/** DNS servers that guests of a subnet are given: its own, or the host's where it names none and has a way out. */
export const nameServers = (
  subnet: SubnetDocument,
  router: RouterDocument | undefined,
  resolvers: readonly string[],
): readonly string[] => (subnet.dns.length > 0 ? subnet.dns : reachesOutside(subnet, router) ? resolvers : []);

const isOn = (subnet: SubnetDocument, router: RouterDocument | undefined): boolean =>
  router?.interfaces.some(({ subnetId }) => subnetId === subnet.id) === true;
const reachesOutside = (subnet: SubnetDocument, router: RouterDocument | undefined): boolean =>
  isOn(subnet, router) && router?.snat === true;

/** What DHCP tells the guests of one subnet. `beside`: the other subnets that its router leads to. */
const subnetOptions = (
  subnet: SubnetDocument,
  router: RouterDocument | undefined,
  resolvers: readonly string[],
  beside: readonly string[],
): string[] => {
  const { first, prefix } = parseSubnet(subnet.cidr);
  const tag = `s${names.tail(subnet.id)}`;
  const dns = nameServers(subnet, router, resolvers);
  const out = reachesOutside(subnet, router);
  const option = (tags: string, name: string, value: string): string =>
    // Without a value: nothing is sent, where dnsmasq would name itself.
    `dhcp-option=${tags},option:${name}${value === '' ? '' : `,${value}`}`;
  const inside = [`${metadataAddress}/32`, ...beside].map((to) => `${to},${subnet.gateway}`).join(',');
  // Options of one kind must not compete: dnsmasq does not say which of them it prefers.
  const [way, noWay] = [`tag:${tag},tag:!inside`, `tag:${tag},tag:inside`];
  return [
    `dhcp-range=set:${tag},${formatIpv4(first)},static,${netmask(prefix)},1h`,
    option(way, 'classless-static-route', out ? `${inside},0.0.0.0/0,${subnet.gateway}` : inside),
    option(noWay, 'classless-static-route', inside),
    option(way, 'router', out ? subnet.gateway : ''),
    option(noWay, 'router', ''),
    option(`tag:${tag}`, 'dns-server', dns.join(',')),
  ];
};

/** @param routed the network's router, with its networks on this host */
export const planDhcp = (
  options: { hash: string; resolvers: readonly string[] },
  network: NetworkDocument,
  routed: { router: RouterDocument; networks: readonly NetworkDocument[] } | undefined,
): WantedDhcp => {
  const { router, networks = [] } = routed ?? {};
  const reached = networks.flatMap((n) => subnetsOn(router, n));
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
      ...network.subnets.flatMap((subnet) =>
        subnetOptions(
          subnet,
          router,
          options.resolvers,
          isOn(subnet, router) ? reached.filter(({ id }) => id !== subnet.id).map(({ cidr }) => cidr) : [],
        ),
      ),
      // Guests whose way out is another of their cards. Not by tags in the hosts file: dnsmasq 2.90 aborts when it
      // reads one again that has a lease.
      ...network.ports
        .filter((p) => !p.defaultRoute)
        .map((p) => `dhcp-mac=set:inside,${p.mac}`)
        .sort(),
      // 26, the interface's MTU, also for clients that do not ask for it.
      `dhcp-option-force=option:mtu,${network.mtu}`,
      `domain=${network.domain}`,
    ],
    hosts: network.ports
      .map((p) => [p.mac, firstAddress(p), ...(leasableName(p.hostname) ? [p.hostname] : []), '1h'].join(','))
      .sort(),
  };
};
