import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { ObservedSink } from '../../../../core/m2m/reports/observed';
import { type Leftover, type LeftoverListing, observedLeftovers } from '../../contract/leftover';
import { HostConditions } from '../conditions/host-conditions.service';
import type { ConditionFact } from '../hosts/host-state';
import { ClaimedLeftovers } from '../leftovers/claimed-leftovers';
import { HostLeftoversRepository } from '../leftovers/host-leftovers.repository';

/**
 * Tells operators of what lies on a host and belongs to nothing. Between the host's look and this one things come and
 * go: only what two looks have found, and no row claimed either time, is told.
 */
@injectable()
export class LeftoversSink extends ObservedSink<LeftoverListing | null> {
  readonly section = 'leftovers';
  readonly schema = observedLeftovers;

  constructor(
    private readonly claimed: ClaimedLeftovers,
    private readonly reports: HostLeftoversRepository,
    private readonly conditions: HostConditions,
  ) {
    super();
  }

  async accept(op: Op, hostId: string, data: LeftoverListing | null): Promise<void> {
    if (data === null) return;
    const scannedAt = new Date(data.scannedAt);
    const before = await this.reports.of(op, hostId);
    // The same look, told again after a reconnect.
    if (before?.scannedAt.getTime() === scannedAt.getTime()) return;
    const unclaimed = await this.claimed.unclaimed(op, hostId, data.leftovers);
    const same = (a: Pick<Leftover, 'kind' | 'name' | 'mark'>, b: typeof a): boolean =>
      a.kind === b.kind && a.name === b.name && a.mark === b.mark;
    const stay = unclaimed.filter((one) => before?.unclaimed.some((known) => same(one, known)));
    await this.reports.put(op, {
      hostId,
      scannedAt,
      unclaimed: unclaimed.map(({ kind, name, mark }) => ({ kind, name, mark })),
    });
    await this.conditions.note(op, hostId, cleanFact(stay));
  }
}

const shown = 3;

const cleanFact = (stay: readonly Leftover[]): ConditionFact => {
  if (stay.length === 0)
    return { type: 'Clean', status: 'true', reason: 'NoLeftovers', message: 'nothing on it belongs to nothing' };
  const named = stay.slice(0, shown).map(({ kind, name }) => `${kind} ${name}`);
  const more = stay.length > shown ? `, and ${stay.length - shown} more` : '';
  return {
    type: 'Clean',
    status: 'false',
    reason: 'Leftovers',
    message: `what belongs to nothing lies on it: ${named.join(', ')}${more}. vcctl host leftovers lists it, and removes what you say`,
  };
};
