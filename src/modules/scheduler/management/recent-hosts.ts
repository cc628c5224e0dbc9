import { eachSize, noHugePages } from '../../host/contract/page-sizes';
import type { ClaimedRoom, SchedulableHost } from '../../host/contract/host.ports';
import type { PlacementRequest } from '../contract/scheduler.ports';
import { placeCpus, usedWith } from './cpu-placement';
import { emptyUsage, hasRoom, suits, weigh } from './filters';

/** A host, and what was claimed on it when it was read and here since. */
export interface Candidate {
  host: SchedulableHost;
  usage: ClaimedRoom;
}

/** So many kinds of requests are told apart; the next one begins anew. */
const maxKinds = 64;

/** Of equal hosts not every process proposes the same one. */
const jitter = 0.02;

/** All that decides which hosts suit, whatever room they have. */
const kindOf = ({ hostId, architecture, needs, verbs, store, cpus }: PlacementRequest): string =>
  JSON.stringify([hostId, architecture, needs.map(({ code, key }) => [code, key]), verbs, store.key, cpus]);

/**
 * Hosts and what is claimed on them, as they were a moment ago. Proposes and decides nothing, so what others claim
 * meanwhile may be missing; what is claimed here is added. Which hosts suit a request but for their room is looked at
 * once for each kind of request: a proposal then costs a comparison of numbers per host.
 */
export class RecentHosts {
  private readonly candidates: readonly Candidate[];
  private readonly suiting = new Map<string, readonly Candidate[]>();
  private readonly full = new Set<Candidate>();

  constructor(hosts: readonly SchedulableHost[], usage: ReadonlyMap<string, ClaimedRoom>) {
    this.candidates = hosts.map((host) => ({ host, usage: usage.get(host.id) ?? emptyUsage }));
  }

  /** The best host with room, none of those in `tried`. Undefined when there is none. */
  best(request: PlacementRequest, tried: ReadonlySet<Candidate> = new Set()): Candidate | undefined {
    let best: Candidate | undefined;
    let highest = Number.NEGATIVE_INFINITY;
    for (const candidate of this.thatSuit(request)) {
      const { host, usage } = candidate;
      if (!hasRoom(host, usage, request)) continue;
      const weight = weigh(host, usage, request) + Math.random() * jitter;
      if (weight <= highest || tried.has(candidate) || this.full.has(candidate)) continue;
      best = candidate;
      highest = weight;
    }
    return best;
  }

  /** The request was claimed on it; should that be rolled back, the next reading of the hosts knows. */
  claimed(candidate: Candidate, request: PlacementRequest): void {
    const { usage, host } = candidate;
    const { vcpus, memoryBytes, hugePages = noHugePages, diskBytes, store, cpus } = request;
    const claims = (cpus && placeCpus(host.nodes, usage.nodes, cpus)) ?? [];
    candidate.usage = {
      vcpus: usage.vcpus + vcpus,
      nodes: usedWith(usage.nodes, claims),
      memoryBytes: usage.memoryBytes + memoryBytes,
      hugePages: eachSize((size) => usage.hugePages[size] + hugePages[size]),
      diskBytes: usage.diskBytes + diskBytes,
      stores: { ...usage.stores, [store.key]: (usage.stores[store.key] ?? 0) + diskBytes },
      instances: usage.instances + 1,
    };
  }

  /** Others took its room: it is not proposed any more. */
  taken(candidate: Candidate): void {
    this.full.add(candidate);
  }

  private thatSuit(request: PlacementRequest): readonly Candidate[] {
    const kind = kindOf(request);
    let found = this.suiting.get(kind);
    if (!found) {
      if (this.suiting.size >= maxKinds) this.suiting.clear();
      found = this.candidates.filter(({ host, usage }) => suits(host, usage, request));
      this.suiting.set(kind, found);
    }
    return found;
  }
}
