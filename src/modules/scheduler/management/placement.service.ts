import { injectable } from 'inversify';
import type { Op } from '../../../core/db/rows/op';
import { Hosts, type ClaimedRoom, type SchedulableHost } from '../../host/contract/host.ports';
import { PlacementRefusal } from '../contract/placement-refusal';
import { Placement, type HostVerdict, type PlacementRequest } from '../contract/scheduler.ports';
import { ClaimRepository } from './claim.repository';
import { emptyUsage, filters, weigh } from './filters';

interface Evaluated {
  host: SchedulableHost;
  usage: ClaimedRoom;
  verdict: HostVerdict;
}

/** How long the list of hosts may be used for what is checked again before it counts. Milliseconds. */
const recentMs = 1_000;

const taken = { code: 'taken', reason: 'other instances took its room meanwhile' };

const judgeOne = (host: SchedulableHost, usage: ClaimedRoom, request: PlacementRequest): Evaluated => {
  for (const filter of filters) {
    const reason = filter.refuses(host, usage, request);
    if (reason !== undefined)
      return { host, usage, verdict: { hostId: host.id, host: host.name, fits: false, code: filter.code, reason } };
  }
  return { host, usage, verdict: { hostId: host.id, host: host.name, fits: true, code: '', reason: '' } };
};

/**
 * Reading and judging every host for every create is what placement would cost most. So the list of hosts is read once
 * a second; what is claimed on them always. A recent list only proposes: a host is read again before its room is
 * claimed, and a refusal always comes from a new list.
 */
@injectable()
export class PlacementService extends Placement {
  private recent: { hosts: SchedulableHost[]; readAt: number } | undefined;

  constructor(
    private readonly hosts: Hosts,
    private readonly claims: ClaimRepository,
  ) {
    super();
  }

  override async explain(op: Op, request: PlacementRequest): Promise<HostVerdict[]> {
    const fits = (evaluated: Evaluated[]): boolean => evaluated.some(({ verdict }) => verdict.fits);
    const recent = await this.evaluate(op, request, await this.recentHosts(op));
    return (fits(recent) ? recent : await this.evaluate(op, request, await this.allHosts(op))).map(
      ({ verdict }) => verdict,
    );
  }

  override async claim(op: Op, request: PlacementRequest): Promise<{ hostId: string }> {
    const held = await this.claims.hostOf(op, request.instanceId);
    if (held !== undefined) return { hostId: held };
    const proposed = await this.claimAmong(op, request, await this.evaluate(op, request, await this.recentHosts(op)));
    if (proposed !== undefined) return { hostId: proposed };
    const evaluated = await this.evaluate(op, request, await this.allHosts(op));
    const hostId = await this.claimAmong(op, request, evaluated);
    if (hostId === undefined) throw new PlacementRefusal(evaluated.map(({ verdict }) => verdict));
    return { hostId };
  }

  override release(op: Op, instanceId: string): Promise<void> {
    return this.claims.release(op, instanceId);
  }

  /**
   * Claims on the best of those that fit, else on the next one. Undefined when none has room; the verdicts then say
   * why.
   */
  private async claimAmong(op: Op, request: PlacementRequest, evaluated: Evaluated[]): Promise<string | undefined> {
    const candidates = evaluated
      .filter(({ verdict }) => verdict.fits)
      .map((j) => ({ ...j, weight: weigh(j.host, j.usage, request) + Math.random() * 0.02 }));
    candidates.sort((a, b) => b.weight - a.weight);
    for (const { host, usage, verdict } of candidates) {
      const now = await this.hosts.byId(op, host.id);
      const refusal = now
        ? judgeOne(now, usage, request).verdict
        : { ...verdict, fits: false, code: 'gone', reason: 'it was removed' };
      if (now && refusal.fits && (await this.claims.tryClaim(op, now, request))) return host.id;
      Object.assign(verdict, refusal.fits ? { ...taken, fits: false } : refusal);
    }
    return undefined;
  }

  private async evaluate(op: Op, request: PlacementRequest, hosts: readonly SchedulableHost[]): Promise<Evaluated[]> {
    const usage = await this.claims.usage(
      op,
      hosts.map((h) => h.id),
    );
    return hosts.map((host) => judgeOne(host, usage.get(host.id) ?? emptyUsage, request));
  }

  private async recentHosts(op: Op): Promise<SchedulableHost[]> {
    return this.recent && performance.now() - this.recent.readAt < recentMs ? this.recent.hosts : this.allHosts(op);
  }

  private async allHosts(op: Op): Promise<SchedulableHost[]> {
    const hosts = await this.hosts.all(op);
    this.recent = { hosts, readAt: performance.now() };
    return hosts;
  }
}
