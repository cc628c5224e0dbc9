import { isDeepStrictEqual } from 'node:util';
import { injectable } from 'inversify';
import { atOnce } from '../../../core/db/at-once';
import type { Op } from '../../../core/db/rows/op';
import { Hosts, type ClaimedRoom, type SchedulableHost } from '../../host/contract/host.ports';
import { eachSize, pageSizeNames } from '../../host/contract/page-sizes';
import { PlacementRefusal } from '../contract/placement-refusal';
import { RoomRefusal } from '../contract/room-refusal';
import {
  Placement,
  type ClaimSize,
  type CpuClaim,
  type DiskRequest,
  type HostVerdict,
  type PlacementRequest,
  type PlainSize,
  type WantedCpus,
} from '../contract/scheduler.ports';
import { ClaimRepository } from './claim.repository';
import { placeCpus, usedWith } from './cpu-placement';
import { cpusRefusal, emptyUsage, growthRefusal, hasRoom, refusal, storeBytes, suits, weigh } from './filters';
import { RecentHosts, type Candidate } from './recent-hosts';

interface Evaluated {
  host: SchedulableHost;
  usage: ClaimedRoom;
  verdict: HostVerdict;
}

/** How long the list of hosts may be used for what is checked again before it counts. Milliseconds. */
const recentMs = 1_000;
/** It is used so many times as long as reading it took, so that reading is a small part of the work on many hosts. */
const timesRead = 20;
const longestMs = 5_000;

/**
 * A host that had room for so many of what is asked for a moment ago has it for one, whatever others claimed since.
 * Where there is less, what is claimed now is looked at, on so many hosts at most.
 */
const ample = 16;
const looks = 3;

const several = (request: PlacementRequest): PlacementRequest => ({
  ...request,
  vcpus: request.vcpus * ample,
  memoryBytes: request.memoryBytes * ample,
  ...(request.hugePages && { hugePages: eachSize((size) => (request.hugePages?.[size] ?? 0) * ample) }),
  diskBytes: request.diskBytes * ample,
});

/** A disk alone, in the terms of instances. */
const asPlaced = ({ volumeId, bytes, ...rest }: DiskRequest): PlacementRequest => ({
  ...rest,
  instanceId: volumeId,
  vcpus: 0,
  memoryBytes: 0,
  diskBytes: bytes,
  architecture: null,
});

const taken = { code: 'taken', reason: 'other instances took its room meanwhile' };

const judgeOne = (host: SchedulableHost, usage: ClaimedRoom, request: PlacementRequest): Evaluated => {
  const refused = refusal(host, usage, request);
  const whose = { hostId: host.id, host: host.name };
  return {
    host,
    usage,
    verdict: refused ? { ...whose, fits: false, ...refused } : { ...whose, fits: true, code: '', reason: '' },
  };
};

const sameSize = (
  one: SchedulableHost,
  other: SchedulableHost,
  { store, cpus }: Pick<PlacementRequest, 'store' | 'cpus'>,
): boolean =>
  (cpus === undefined || isDeepStrictEqual(one.nodes, other.nodes)) &&
  one.vcpus === other.vcpus &&
  one.memoryBytes === other.memoryBytes &&
  pageSizeNames.every((size) => one.hugePages[size] === other.hugePages[size]) &&
  storeBytes(one, store) === storeBytes(other, store);

/**
 * Reading and judging every host for every create is what placement would cost most. So hosts and what is claimed on
 * them are read once a second. What was read then only proposes: a host is read again before its room is claimed, which
 * one guarded statement does, and a refusal always comes from a new reading. So a claim fails only when there is no room
 * at that moment, and a request is accepted on old figures only where there was plenty.
 */
@injectable()
export class SchedulerPlacement extends Placement {
  private recent: { hosts: RecentHosts; until: number } | undefined;
  private reading = false;

  constructor(
    private readonly hosts: Hosts,
    private readonly claims: ClaimRepository,
  ) {
    super();
  }

  override async fits(op: Op, request: PlacementRequest): Promise<boolean> {
    const recent = await this.recentHosts(op);
    // CPUs of their own are few: there is never plenty of them.
    if (request.cpus === undefined && recent.best(several(request)) !== undefined) return true;
    const tried = new Set<Candidate>();
    for (let next = recent.best(request, tried); next && tried.size < looks; next = recent.best(request, tried)) {
      tried.add(next);
      const usage = (await this.claims.usage(op, [next.host.id])).get(next.host.id) ?? emptyUsage;
      if (hasRoom(next.host, usage, request)) return true;
      next.usage = usage;
    }
    return false;
  }

  override async explain(op: Op, request: PlacementRequest): Promise<HostVerdict[]> {
    return (await this.evaluate(op, request)).map(({ verdict }) => verdict);
  }

  override async claim(op: Op, request: PlacementRequest): Promise<{ hostId: string }> {
    const recent = await this.recentHosts(op);
    const tried = new Set<Candidate>();
    for (let next = recent.best(request, tried); next; next = recent.best(request, tried)) {
      tried.add(next);
      const hostId = await this.claimOn(op, next, request);
      if (hostId !== undefined) {
        if (hostId === next.host.id) recent.claimed(next, request);
        return { hostId };
      }
      recent.taken(next);
    }
    const held = await this.claims.hostOf(op, request.instanceId);
    if (held !== undefined) return { hostId: held };
    const evaluated = await this.evaluate(op, request);
    const hostId = await this.claimAmong(op, request, evaluated);
    if (hostId === undefined) throw new PlacementRefusal(await this.refusals(op, request, evaluated));
    return { hostId };
  }

  override cpusOf(op: Op, instanceId: string): Promise<CpuClaim[]> {
    return this.claims.cpus.of(op, instanceId);
  }

  override async otherCpus(op: Op, instanceId: string, wanted: WantedCpus | null): Promise<CpuClaim[]> {
    const held = wanted && (await this.claims.of(op, instanceId));
    if (!held) return [];
    await this.claims.cpus.lock(op, held.hostId);
    const host = await this.hosts.byId(op, held.hostId);
    const { claims, reason } = await this.insteadOf(op, instanceId, host, wanted);
    if (!claims) throw new RoomRefusal(host?.name ?? held.hostId, reason);
    return claims;
  }

  /** CPUs of its host that it could have if it gave those back that it has; else why not. */
  private async insteadOf(
    op: Op,
    instanceId: string,
    host: SchedulableHost | undefined,
    wanted: WantedCpus,
  ): Promise<{ claims: CpuClaim[] | null; reason: string }> {
    if (!host) return { claims: null, reason: 'is not known' };
    const used = usedWith(await this.claims.cpus.onHost(op, host.id), await this.claims.cpus.of(op, instanceId), -1);
    return { claims: placeCpus(host.nodes, used, wanted), reason: cpusRefusal(host, used, wanted) ?? '' };
  }

  override async checkResize(
    op: Op,
    instanceId: string,
    size: PlainSize & { cpus?: WantedCpus | null },
    operator: boolean,
  ): Promise<void> {
    const held = await this.claims.of(op, instanceId);
    const host = held && (await this.hosts.byId(op, held.hostId));
    if (!host) return;
    const usage = (await this.claims.usage(op, [host.id])).get(host.id) ?? emptyUsage;
    const own = size.cpus ? await this.insteadOf(op, instanceId, host, size.cpus) : undefined;
    if (own?.claims === null) throw new RoomRefusal(host.name, own.reason, operator);
    const keepsOwn = size.cpus === undefined && (await this.claims.cpus.of(op, instanceId)).length > 0;
    const reason = growthRefusal(host, usage, {
      vcpus: keepsOwn ? 0 : size.vcpus - held.vcpus,
      memoryBytes: size.memoryBytes - held.memoryBytes,
      hugePages: eachSize((page) => (size.hugePages?.[page] ?? 0) - held.hugePages[page]),
      diskBytes: size.diskBytes - held.diskBytes,
      store: { key: held.store, words: 'its pool' },
    });
    if (reason !== undefined) throw new RoomRefusal(host.name, reason, operator);
  }

  override async resize(op: Op, instanceId: string, size: ClaimSize): Promise<void> {
    const held = await this.claims.of(op, instanceId);
    const host = held && (await this.hosts.byId(op, held.hostId));
    if (!held) return;
    const store = host ? storeBytes(host, { key: held.store, words: '' }) : undefined;
    const has = {
      vcpus: host?.vcpus ?? 0,
      memoryBytes: host?.memoryBytes ?? 0,
      hugePages: host?.hugePages,
      diskBytes: store ?? 0,
    };
    const { cpus, ...plain } = size;
    const keepsOwn = cpus === undefined && (await this.claims.cpus.of(op, instanceId)).length > 0;
    const wanted = keepsOwn ? { ...plain, vcpus: held.vcpus } : size;
    if (await this.claims.resize(op, instanceId, wanted, has)) return;
    await this.checkResize(op, instanceId, { ...plain, ...(cpus && { cpus: null }) }, false);
    // Others gave room back since: there is some again.
    throw new RoomRefusal(host?.name ?? held.hostId, 'had not enough left a moment ago');
  }

  override release(op: Op, instanceId: string): Promise<void> {
    return this.claims.release(op, instanceId);
  }

  override async claimDisk(op: Op, request: DiskRequest, operator: boolean): Promise<{ hostId: string }> {
    const placed = asPlaced(request);
    const recent = await this.recentHosts(op);
    const tried = new Set<Candidate>();
    for (let next = recent.best(placed, tried); next; next = recent.best(placed, tried)) {
      tried.add(next);
      const now = await this.hosts.byId(op, next.host.id);
      if (now && suits(now, next.usage, placed) && (await this.claims.tryClaimDisk(op, now, request)))
        return { hostId: now.id };
    }
    const evaluated = (await this.evaluate(op, placed)).filter(
      ({ host }) => request.hostId === undefined || host.id === request.hostId,
    );
    for (const { host, verdict } of evaluated) {
      if (!verdict.fits) continue;
      if (await this.claims.tryClaimDisk(op, host, request)) return { hostId: host.id };
      Object.assign(verdict, { ...taken, fits: false });
    }
    throw new PlacementRefusal(
      evaluated.map(({ verdict }) => verdict),
      operator,
      'volume',
    );
  }

  override releaseDisk(op: Op, volumeId: string): Promise<void> {
    return this.claims.releaseDisk(op, volumeId);
  }

  /**
   * Claims on a host of which is known what it was a moment ago, in one round trip: what it is now is read with the
   * claim, which is taken back if that says something else. Returns where the instance has its room then, which is
   * another host if it had a claim before; undefined when this one is not for it.
   */
  private async claimOn(op: Op, { host, usage }: Candidate, request: PlacementRequest): Promise<string | undefined> {
    const { held, now, claimed } = await this.claims.claimReading(op, host, request, () =>
      this.hosts.byId(op, host.id),
    );
    if (held !== undefined) return held;
    if (!now || !suits(now, usage, request)) {
      if (claimed) await this.claims.takeBack(op);
      return undefined;
    }
    if (sameSize(now, host, request)) return claimed ? host.id : undefined;
    if (claimed) await this.claims.takeBack(op);
    return (await this.claims.tryClaim(op, now, request)) ? host.id : undefined;
  }

  /**
   * Claims on the best of those that fit, else on the next one. Undefined when none has room; the verdicts then say
   * why.
   */
  private async claimAmong(op: Op, request: PlacementRequest, evaluated: Evaluated[]): Promise<string | undefined> {
    const candidates = evaluated
      .filter(({ verdict }) => verdict.fits)
      .map((one) => ({ ...one, weight: weigh(one.host, one.usage, request) }));
    candidates.sort((a, b) => b.weight - a.weight);
    for (const { host, verdict } of candidates) {
      if (await this.claims.tryClaim(op, host, request)) return host.id;
      Object.assign(verdict, { ...taken, fits: false });
    }
    return undefined;
  }

  /** Where others were faster, what they have left says why there is no room. */
  private async refusals(op: Op, request: PlacementRequest, evaluated: Evaluated[]): Promise<HostVerdict[]> {
    const outrun = evaluated.some(({ verdict }) => verdict.code === taken.code);
    const now = outrun ? await this.evaluate(op, request) : evaluated;
    return now.map(({ verdict }) => (verdict.fits ? { ...verdict, ...taken, fits: false } : verdict));
  }

  /** Judges all hosts as they are now. */
  private async evaluate(op: Op, request: PlacementRequest): Promise<Evaluated[]> {
    const { hosts, usage } = await this.read(op);
    return hosts.map((host) => judgeOne(host, usage.get(host.id) ?? emptyUsage, request));
  }

  /** While one reads the hosts anew, the others go on with what is known: it only proposes. */
  private async recentHosts(op: Op): Promise<RecentHosts> {
    if (this.recent && (this.reading || performance.now() < this.recent.until)) return this.recent.hosts;
    this.reading = true;
    try {
      return (await this.read(op)).recent;
    } finally {
      this.reading = false;
    }
  }

  private async read(
    op: Op,
  ): Promise<{ hosts: SchedulableHost[]; usage: Map<string, ClaimedRoom>; recent: RecentHosts }> {
    const since = performance.now();
    const [hosts, usage] = await atOnce(this.hosts.all(op), this.claims.usageOfAll(op));
    const recent = new RecentHosts(hosts, usage);
    const now = performance.now();
    this.recent = {
      hosts: recent,
      until: now + Math.min(longestMs, Math.max(recentMs, timesRead * (now - since))),
    };
    return { hosts, usage, recent };
  }
}
