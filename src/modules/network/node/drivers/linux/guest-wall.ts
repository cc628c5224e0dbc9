import { lookup } from 'node:dns/promises';
import { isIP, isIPv4 } from 'node:net';
import { z } from 'zod';
import { exec } from '../../../../../core/host/processes/exec';
import { contains, parseIpv4, parseSubnet } from '../../../contract/ipv4';
import type { EgressDocument } from '../../../contract/host-document';
import { hostLinkPrefix } from './names';

/**
 * What guests of this host may not reach beyond their networks, and the exceptions. Addresses are IPv4, alone or in
 * CIDR form.
 */
export interface GuestWall {
  /** Reached all the same. */
  allowed: string[];
  /** Reached on port 53 all the same: the servers that networks without their own are given. */
  resolvers: string[];
  denied: string[];
  /** Whatever is not allowed leaves through one of these. Null: the way out is a line without gateways. */
  gateways: string[] | null;
  /**
   * Nothing but what is allowed is reached: of some machine of the cloud nobody here knows the address, so it could be
   * anywhere.
   */
  closed: boolean;
}

const hop = z.object({ gateway: z.string().optional(), dev: z.string().optional() });
const route = hop.extend({ dst: z.string(), type: z.string().optional(), nexthops: z.array(hop).optional() });
export type HostRoute = z.infer<typeof route>;

/** The host's IPv4 routes of all tables. */
export const readHostRoutes = async (): Promise<HostRoute[]> =>
  z.array(route).parse(JSON.parse((await exec('ip', ['-4', '-j', 'route', 'show', 'table', 'all'])).stdout || '[]'));

const lookupMs = 2000;

/** IPv4 addresses of a name; undefined when there are none to be had. */
type Answer = Promise<string[] | undefined>;

/**
 * Names that are being asked for. The system asks for two at a time, and takes its time over servers that do not answer:
 * a name that is asked for again and again would keep all others from being found.
 */
const asked = new Map<string, Answer>();

const ask = (name: string): Answer => {
  const before = asked.get(name);
  if (before) return before;
  const answer = lookup(name, { all: true })
    .then(
      (found) => found.flatMap(({ address, family }) => (family === 4 ? [address] : [])).sort(),
      () => undefined,
    )
    .finally(() => asked.delete(name));
  asked.set(name, answer);
  return answer;
};

/** IPv4 addresses by name, as they were when the names were last found. */
export type KnownNames = Readonly<Record<string, readonly string[]>>;

export interface MachineAddresses {
  /** IPv4; what has IPv6 only is out of guests' reach anyway. */
  addresses: string[];
  /** Names whose address was never found. */
  unknown: string[];
  /** For the next look: of these machines alone. */
  known: KnownNames;
}

/**
 * Addresses of the cloud's machines. Names are looked up; one that is not found at the moment keeps what it had in
 * `known`.
 */
export const addressesOf = async (machines: readonly string[], known: KnownNames): Promise<MachineAddresses> => {
  const names = [...new Set(machines.filter((machine) => !isIP(machine)))].sort();
  const found = await Promise.all(
    names.map(async (name) => {
      const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), lookupMs).unref());
      const addresses = await Promise.race([ask(name), late]);
      return [name, addresses ?? (Object.hasOwn(known, name) ? known[name] : undefined)] as const;
    }),
  );
  const now = Object.fromEntries(found.flatMap(([name, addresses]) => (addresses ? [[name, addresses]] : [])));
  return {
    addresses: [...machines.filter((machine) => isIPv4(machine)), ...Object.values(now).flat()],
    unknown: found.flatMap(([name, addresses]) => (addresses ? [] : [name])),
    known: now,
  };
};

/**
 * Reads the wall off the host's routes: networks without a gateway are directly connected, the default routes' gateways
 * are the way out.
 * @param hash this host's, to tell the links of its own routers
 * @param machines the cloud's hosts and management
 */
export const guestWall = (facts: {
  hash: string;
  routes: readonly HostRoute[];
  egress: EgressDocument;
  machines: Pick<MachineAddresses, 'addresses' | 'unknown'>;
  resolvers: readonly string[];
}): GuestWall => {
  const real = facts.routes
    .filter((r) => r.type === undefined || r.type === 'unicast')
    .map((r) => ({ dst: r.dst, hops: r.nexthops ?? [r] }));
  const connected = real
    .filter(
      (r) =>
        r.dst !== 'default' &&
        r.hops.some((h) => h.gateway === undefined && !h.dev?.startsWith(hostLinkPrefix(facts.hash))),
    )
    .map((r) => r.dst);
  const ways = real.filter((r) => r.dst === 'default').flatMap((r) => r.hops);
  return {
    allowed: unique(facts.egress.allow),
    resolvers: unique(facts.resolvers),
    denied: unique([...connected, ...facts.machines.addresses.filter((m) => !isLoopback(m)), ...facts.egress.deny]),
    gateways: ways.some((h) => h.gateway === undefined) ? null : unique(ways.flatMap((h) => h.gateway ?? [])),
    closed: facts.machines.unknown.length > 0,
  };
};

const loopback = parseSubnet('127.0.0.0/8');
const isLoopback = (address: string): boolean => contains(loopback, parseIpv4(address));
const unique = (addresses: readonly string[]): string[] => [...new Set(addresses)].sort();
