import { knownRevision } from '../../../core/m2m/verbs/revisions';
import type { ClaimedRoom, SchedulableHost } from '../../host/contract/host.ports';
import type { PlacementRequest } from '../contract/scheduler.ports';

export const emptyUsage: ClaimedRoom = { vcpus: 0, memoryBytes: 0, diskBytes: 0, pools: {}, instances: 0 };

export interface HostFilter {
  /** Stable code of the refusal. */
  code: string;
  /** The reason for users when the host is refused, undefined when it passes. */
  refuses: (host: SchedulableHost, usage: ClaimedRoom, request: PlacementRequest) => string | undefined;
  /** It looks at what is claimed: `hasRoom` says the same, without words. */
  ofRoom?: true;
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(bytes % 2 ** 30 === 0 ? 0 : 1)} GiB`;

const shortOf = (what: string, needed: string, free: string): string => `needs ${needed} of ${what}, has ${free} free`;

/** Size of the host's pool; undefined when it has none of that name. */
export const poolBytes = (host: SchedulableHost, pool: string): number | undefined =>
  host.pools.find(({ name }) => name === pool)?.totalBytes;

/** Of the host's VMMs those that may run it. */
const candidates = (host: SchedulableHost, { vmm }: PlacementRequest): SchedulableHost['vmms'] =>
  host.vmms.filter((one) => one.usable && (vmm == null || one.kind === vmm));

/** In this order; the first refusal is the host's reason. */
export const filters: readonly HostFilter[] = [
  {
    code: 'other_host',
    refuses: (host, _usage, request) =>
      request.hostId !== undefined && request.hostId !== host.id ? 'another host was asked for' : undefined,
  },
  { code: 'not_ready', refuses: (host) => (host.schedulable ? undefined : host.reason || `it is ${host.state}`) },
  {
    code: 'outdated',
    refuses: (host, _usage, { verbs = {} }) => {
      const lacking = Object.keys(verbs).filter((verb) => knownRevision(host.verbs, verb) < (verbs[verb] ?? 1));
      return lacking.length === 0
        ? undefined
        : `its agent does not understand what ${lacking.map((verb) => `"${verb}"`).join(', ')} needs for this: upgrade the host`;
    },
  },
  {
    code: 'architecture',
    refuses: (host, _usage, request) =>
      host.architecture === request.architecture
        ? undefined
        : `the image is for ${request.architecture}, the host is ${host.architecture}`,
  },
  {
    code: 'no_vmm',
    refuses: (host) => (host.vmms.some((v) => v.usable) ? undefined : 'no virtual machine monitor works on it'),
  },
  {
    code: 'vmm',
    refuses: (host, _usage, request) =>
      candidates(host, request).length > 0
        ? undefined
        : `${request.vmm ?? ''} was asked for, which ${host.vmms.some((v) => v.kind === request.vmm) ? 'does not work on it' : 'it does not have'}`,
  },
  {
    code: 'firmware',
    refuses: (host, _usage, request) =>
      request.firmware === 'any' || candidates(host, request).some((v) => v.capabilities.includes(request.firmware))
        ? undefined
        : `the image boots by ${request.firmware === 'uefi' ? 'UEFI' : 'BIOS'}, which ${request.vmm == null ? 'none of its virtual machine monitors has' : `its ${request.vmm} does not have`}`,
  },
  {
    code: 'vcpus',
    ofRoom: true,
    refuses: (host, usage, request) =>
      usage.vcpus + request.vcpus <= host.vcpus
        ? undefined
        : shortOf('vCPUs', `${request.vcpus}`, `${Math.max(0, host.vcpus - usage.vcpus)}`),
  },
  {
    code: 'memory',
    ofRoom: true,
    refuses: (host, usage, request) =>
      usage.memoryBytes + request.memoryBytes <= host.memoryBytes
        ? undefined
        : shortOf('memory', gib(request.memoryBytes), gib(Math.max(0, host.memoryBytes - usage.memoryBytes))),
  },
  {
    code: 'pool',
    refuses: (host, _usage, { pool }) =>
      poolBytes(host, pool) === undefined ? `it has no storage pool "${pool}"` : undefined,
  },
  {
    code: 'disk',
    ofRoom: true,
    refuses: (host, usage, { pool, diskBytes }) => {
      const claimed = usage.pools[pool] ?? 0;
      const total = poolBytes(host, pool) ?? 0;
      return claimed + diskBytes <= total
        ? undefined
        : shortOf(`disk in the pool "${pool}"`, gib(diskBytes), gib(Math.max(0, total - claimed)));
    },
  },
];

const lasting = filters.filter(({ ofRoom }) => ofRoom !== true);

/** Whether it would take the request, had it room. */
export const suits = (host: SchedulableHost, usage: ClaimedRoom, request: PlacementRequest): boolean =>
  lasting.every(({ refuses }) => refuses(host, usage, request) === undefined);

/** Whether what is asked for is free on it. */
export const hasRoom = (host: SchedulableHost, usage: ClaimedRoom, request: PlacementRequest): boolean =>
  usage.vcpus + request.vcpus <= host.vcpus &&
  usage.memoryBytes + request.memoryBytes <= host.memoryBytes &&
  (usage.pools[request.pool] ?? 0) + request.diskBytes <= (poolBytes(host, request.pool) ?? 0);

/** Higher is better: spreads by the scarcer of memory and vCPUs left after the placement. 0 to 1. */
export const weigh = (host: SchedulableHost, usage: ClaimedRoom, request: PlacementRequest): number =>
  Math.min(
    1 - (usage.memoryBytes + request.memoryBytes) / host.memoryBytes,
    1 - (usage.vcpus + request.vcpus) / host.vcpus,
  );
