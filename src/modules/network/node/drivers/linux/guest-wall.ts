import { lookup } from 'node:dns/promises';
import { isIPv4 } from 'node:net';
import { z } from 'zod';
import { exec } from '../../../../../core/host/exec';
import { contains, parseIpv4, parseSubnet } from '../../../contract/ipv4';
import type { EgressDocument } from '../../../contract/network.verbs';
import { hostLinkPrefix } from './names';

/** What guests of this host may not reach beyond their networks, and the exceptions. Addresses are IPv4, alone or in CIDR form. */
export interface GuestWall {
  /** Reached all the same. */
  allowed: string[];
  /** Reached on port 53 all the same: the servers that networks without their own are given. */
  resolvers: string[];
  denied: string[];
  /** Whatever is not allowed leaves through one of these. Null: the way out is a line without gateways. */
  gateways: string[] | null;
}

const hop = z.object({ gateway: z.string().optional(), dev: z.string().optional() });
const route = hop.extend({ dst: z.string(), type: z.string().optional(), nexthops: z.array(hop).optional() });
export type HostRoute = z.infer<typeof route>;

/** The host's IPv4 routes of all tables. */
export const readHostRoutes = async (): Promise<HostRoute[]> => z.array(route).parse(JSON.parse((await exec('ip', ['-4', '-j', 'route', 'show', 'table', 'all'])).stdout || '[]'));

const lookupMs = 2000;

/** IPv4 addresses of the cloud's machines. Names are looked up; one that is not found at the moment keeps what it had in `known`. */
export const addressesOf = async (machines: readonly string[], known: Map<string, string[]>): Promise<string[]> => {
  const found = await Promise.all(
    machines.map(async (machine) => {
      if (isIPv4(machine)) return [machine];
      if (machine.includes(':')) return [];
      const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), lookupMs).unref());
      const answer = await Promise.race([lookup(machine, { family: 4, all: true }).catch(() => undefined), late]);
      if (answer) known.set(machine, answer.map((a) => a.address));
      return known.get(machine) ?? [];
    }),
  );
  return found.flat();
};

/**
 * Reads the wall off the host's routes: networks without a gateway are directly connected, the default routes' gateways are the way out.
 * @param hash this host's, to tell the links of its own routers
 * @param machines addresses of the cloud's hosts and of management
 */
export const guestWall = (facts: { hash: string; routes: readonly HostRoute[]; egress: EgressDocument; machines: readonly string[]; resolvers: readonly string[] }): GuestWall => {
  const real = facts.routes.filter((r) => r.type === undefined || r.type === 'unicast').map((r) => ({ dst: r.dst, hops: r.nexthops ?? [r] }));
  const connected = real.filter((r) => r.dst !== 'default' && r.hops.some((h) => h.gateway === undefined && !h.dev?.startsWith(hostLinkPrefix(facts.hash)))).map((r) => r.dst);
  const ways = real.filter((r) => r.dst === 'default').flatMap((r) => r.hops);
  return {
    allowed: unique(facts.egress.allow),
    resolvers: unique(facts.resolvers),
    denied: unique([...connected, ...facts.machines.filter((m) => !isLoopback(m)), ...facts.egress.deny]),
    gateways: ways.some((h) => h.gateway === undefined) ? null : unique(ways.flatMap((h) => h.gateway ?? [])),
  };
};

const loopback = parseSubnet('127.0.0.0/8');
const isLoopback = (address: string): boolean => contains(loopback, parseIpv4(address));
const unique = (addresses: readonly string[]): string[] => [...new Set(addresses)].sort();
