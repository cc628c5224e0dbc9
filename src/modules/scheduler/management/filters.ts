import { knownRevision } from '../../../core/m2m/verbs/revisions';
import type { ClaimedRoom, SchedulableHost } from '../../host/contract/host.ports';
import { type HugePages, noHugePages, pageSizeNames, pageSizes } from '../../host/contract/page-sizes';
import { couldPlace, freeCpus, placeCpus } from './cpu-placement';
import type { PlacementRequest, WantedCpus } from '../contract/scheduler.ports';

export const emptyUsage: ClaimedRoom = {
  vcpus: 0,
  nodes: {},
  memoryBytes: 0,
  hugePages: noHugePages,
  diskBytes: 0,
  stores: {},
  instances: 0,
};

/** Why a host is not for an instance. */
export interface Refusal {
  /** Stable. */
  code: string;
  /** For operators. */
  reason: string;
  /** For tenants, when it is the same for all hosts. */
  saying?: string;
}

interface HostFilter {
  code: string;
  saying?: string;
  /** The reason when the host is refused, undefined when it passes. */
  refuses: (host: SchedulableHost, usage: ClaimedRoom, request: PlacementRequest) => string | undefined;
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(bytes % 2 ** 30 === 0 ? 0 : 1)} GiB`;

const shortOf = (what: string, needed: string, free: string): string => `needs ${needed} of ${what}, has ${free} free`;

/** Size of the host's store; undefined when it has none of that key. */
export const storeBytes = (host: SchedulableHost, { key }: PlacementRequest['store']): number | undefined =>
  host.stores.find((store) => store.key === key)?.bytes;

/** What a host is, whatever it has of parts and room. In this order; the first refusal is the host's reason. */
const ofHost: readonly HostFilter[] = [
  {
    code: 'other_host',
    refuses: (host, _usage, request) =>
      request.hostId !== undefined && request.hostId !== host.id ? 'another host was asked for' : undefined,
  },
  { code: 'not_ready', refuses: (host) => (host.schedulable ? undefined : host.reason || `it is ${host.state}`) },
  {
    code: 'outdated',
    saying: 'The hosts run an older release that cannot do this. An administrator has to upgrade them.',
    refuses: (host, _usage, { verbs = {} }) => {
      const lacking = Object.keys(verbs).filter((verb) => knownRevision(host.verbs, verb) < (verbs[verb] ?? 1));
      return lacking.length === 0
        ? undefined
        : `its agent does not understand what ${lacking.map((verb) => `"${verb}"`).join(', ')} needs for this: upgrade the host`;
    },
  },
  {
    code: 'architecture',
    saying: 'No host has the architecture of the image.',
    refuses: (host, _usage, request) =>
      request.architecture === null || host.architecture === request.architecture
        ? undefined
        : `the image is for ${request.architecture}, the host is ${host.architecture}`,
  },
  {
    code: 'dedicated_cpus',
    saying: 'No host sets so many CPUs aside for instances of their own.',
    refuses: (host, _usage, { cpus }) => {
      if (!cpus || couldPlace(host.nodes, cpus)) return undefined;
      const aside = freeCpus(host.nodes, {});
      return aside === 0
        ? 'it sets no CPU aside for instances of their own (modules.host.dedicatedCpus)'
        : `it needs ${wordsOf(cpus)}, the host has ${aside} set aside on ${host.nodes.length} NUMA node${host.nodes.length === 1 ? '' : 's'}`;
    },
  },
];

/** Who asks for none of a size is not refused for it, whatever became of what there was. */
const lacksPages = (all: HugePages, used: HugePages, wanted: HugePages, size: keyof HugePages): boolean =>
  wanted[size] > 0 && used[size] + wanted[size] > all[size];

const wordsOf = ({ count, numaNodes }: WantedCpus): string =>
  `${count} CPU${count === 1 ? '' : 's'} of its own${numaNodes === null ? '' : `, spread over ${numaNodes} NUMA node${numaNodes === 1 ? '' : 's'} with their memory`}`;

/** Why there are not so many CPUs left; undefined when there are. */
export const cpusRefusal = (
  { nodes }: SchedulableHost,
  used: ClaimedRoom['nodes'],
  wanted: WantedCpus,
): string | undefined =>
  placeCpus(nodes, used, wanted) === null ? `needs ${wordsOf(wanted)}, has ${freeCpus(nodes, used)} free` : undefined;

/** What is free: `hasRoom` says the same, without words. */
const ofRoom: readonly HostFilter[] = [
  {
    code: 'vcpus',
    refuses: (host, usage, request) =>
      usage.vcpus + request.vcpus <= host.vcpus
        ? undefined
        : shortOf('vCPUs', `${request.vcpus}`, `${Math.max(0, host.vcpus - usage.vcpus)}`),
  },
  {
    code: 'dedicated_cpus_taken',
    refuses: (host, usage, { cpus }) => cpus && cpusRefusal(host, usage.nodes, cpus),
  },
  {
    code: 'memory',
    refuses: (host, usage, request) =>
      request.memoryBytes === 0 || usage.memoryBytes + request.memoryBytes <= host.memoryBytes
        ? undefined
        : shortOf('memory', gib(request.memoryBytes), gib(Math.max(0, host.memoryBytes - usage.memoryBytes))),
  },
  {
    code: 'huge_pages',
    saying: 'No host has enough huge pages of that size free. Choose another flavor, or ask an administrator.',
    refuses: (host, usage, { hugePages = noHugePages }) => {
      const short = pageSizeNames.find((size) => lacksPages(host.hugePages, usage.hugePages, hugePages, size));
      if (short === undefined) return undefined;
      const pages = (bytes: number): string => String(Math.floor(Math.max(0, bytes) / pageSizes[short]));
      return shortOf(
        `huge pages of ${short}`,
        pages(hugePages[short]),
        pages(host.hugePages[short] - usage.hugePages[short]),
      );
    },
  },
  {
    code: 'disk',
    refuses: (host, usage, { store, diskBytes }) => {
      const claimed = usage.stores[store.key] ?? 0;
      const total = storeBytes(host, store) ?? 0;
      return claimed + diskBytes <= total
        ? undefined
        : shortOf(`disk in ${store.words}`, gib(diskBytes), gib(Math.max(0, total - claimed)));
    },
  },
];

const first = (filters: readonly HostFilter[], ...asked: Parameters<HostFilter['refuses']>): Refusal | undefined => {
  for (const { code, saying, refuses } of filters) {
    const reason = refuses(...asked);
    if (reason !== undefined) return { code, reason, ...(saying !== undefined && { saying }) };
  }
  return undefined;
};

/** Why the host is not for the request whatever room it has: what it is comes first, then what the request needs of its parts. */
const lasting = (host: SchedulableHost, usage: ClaimedRoom, request: PlacementRequest): Refusal | undefined => {
  const refused = first(ofHost, host, usage, request);
  if (refused) return refused;
  for (const { code, saying, refuses } of request.needs) {
    const reason = refuses(host.parts);
    if (reason !== undefined) return { code, reason, ...(saying !== undefined && { saying }) };
  }
  return undefined;
};

/** Why the host is not for the request; undefined when it is. */
export const refusal = (host: SchedulableHost, usage: ClaimedRoom, request: PlacementRequest): Refusal | undefined =>
  lasting(host, usage, request) ?? first(ofRoom, host, usage, request);

/** Why something cannot grow on the host by so much; undefined when it can. What does not grow is not looked at. */
export const growthRefusal = (
  host: SchedulableHost,
  usage: ClaimedRoom,
  more: Pick<PlacementRequest, 'vcpus' | 'memoryBytes' | 'hugePages' | 'diskBytes' | 'store'>,
): string | undefined => {
  const grows: Record<string, number> = {
    vcpus: more.vcpus,
    memory: more.memoryBytes,
    // It looks at each size by itself.
    huge_pages: 1,
    disk: more.diskBytes,
  };
  const request = { ...more, instanceId: '', projectId: '', architecture: null, needs: [] };
  return first(
    ofRoom.filter(({ code }) => (grows[code] ?? 0) > 0),
    host,
    usage,
    request,
  )?.reason;
};

/** Whether it would take the request, had it room. */
export const suits = (host: SchedulableHost, usage: ClaimedRoom, request: PlacementRequest): boolean =>
  lasting(host, usage, request) === undefined;

/** Whether what is asked for is free on it. */
export const hasRoom = (host: SchedulableHost, usage: ClaimedRoom, request: PlacementRequest): boolean =>
  usage.vcpus + request.vcpus <= host.vcpus &&
  (request.memoryBytes === 0 || usage.memoryBytes + request.memoryBytes <= host.memoryBytes) &&
  !pageSizeNames.some((size) => lacksPages(host.hugePages, usage.hugePages, request.hugePages ?? noHugePages, size)) &&
  (usage.stores[request.store.key] ?? 0) + request.diskBytes <= (storeBytes(host, request.store) ?? 0) &&
  (request.cpus === undefined || placeCpus(host.nodes, usage.nodes, request.cpus) !== null);

/** Higher is better: spreads by the scarcer of memory and vCPUs left after the placement. 0 to 1. */
export const weigh = (host: SchedulableHost, usage: ClaimedRoom, request: PlacementRequest): number =>
  Math.min(
    1 - (usage.memoryBytes + request.memoryBytes) / host.memoryBytes,
    1 - (usage.vcpus + request.vcpus) / host.vcpus,
  );
