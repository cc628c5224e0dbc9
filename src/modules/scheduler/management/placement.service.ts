import { injectable } from 'inversify';
import type { Op } from '../../../core/db/op';
import { Hosts, type SchedulableHost } from '../../host/contract/host.ports';
import { PlacementRefusal } from '../contract/placement-refusal';
import { Placement, type HostVerdict, type PlacementRequest } from '../contract/scheduler.ports';
import { ClaimRepository } from './claim.repository';
import { emptyUsage, filters, weigh, type HostUsage } from './filters';

interface Judged {
  host: SchedulableHost;
  usage: HostUsage;
  verdict: HostVerdict;
}

@injectable()
export class PlacementService extends Placement {
  constructor(
    private readonly hosts: Hosts,
    private readonly claims: ClaimRepository,
  ) {
    super();
  }

  override async explain(op: Op, request: PlacementRequest): Promise<HostVerdict[]> {
    return (await this.judge(op, request)).map((j) => j.verdict);
  }

  override async claim(op: Op, request: PlacementRequest): Promise<{ hostId: string }> {
    const held = await this.claims.hostOf(op, request.instanceId);
    if (held !== undefined) return { hostId: held };
    const judged = await this.judge(op, request);
    const candidates = judged.filter((j) => j.verdict.fits).map((j) => ({ ...j, weight: weigh(j.host, j.usage, request) + Math.random() * 0.02 }));
    candidates.sort((a, b) => b.weight - a.weight);
    for (const { host, verdict } of candidates) {
      if (await this.claims.tryClaim(op, host, request)) return { hostId: host.id };
      verdict.fits = false;
      verdict.code = 'taken';
      verdict.reason = 'other instances took its room meanwhile';
    }
    throw new PlacementRefusal(judged.map((j) => j.verdict));
  }

  override release(op: Op, instanceId: string): Promise<void> {
    return this.claims.release(op, instanceId);
  }

  override usage(op: Op, hostIds: string[]): Promise<Map<string, HostUsage>> {
    return this.claims.usage(op, hostIds);
  }

  private async judge(op: Op, request: PlacementRequest): Promise<Judged[]> {
    const hosts = await this.hosts.all(op);
    const usage = await this.claims.usage(op, hosts.map((h) => h.id));
    return hosts.map((host) => {
      const used = usage.get(host.id) ?? emptyUsage;
      for (const filter of filters) {
        const reason = filter.refuses(host, used, request);
        if (reason !== undefined) return { host, usage: used, verdict: { hostId: host.id, host: host.name, fits: false, code: filter.code, reason } };
      }
      return { host, usage: used, verdict: { hostId: host.id, host: host.name, fits: true, code: '', reason: '' } };
    });
  }
}
