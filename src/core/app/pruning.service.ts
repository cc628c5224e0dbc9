import { injectable } from 'inversify';
import { OutboxRepository } from '../events/outbox.repository';
import { IdempotencyRepository } from '../http/routes/idempotency.repository';
import { PeriodicWorks, type PeriodicWork } from '../periodic/periodic-work';

const usual = { everyMs: 600_000, scope: 'cluster', deadlineMs: 120_000 } as const;

/** Forgets what core keeps for a while only: sent events and answers under an `Idempotency-Key` (24 hours). */
@injectable()
export class Pruning extends PeriodicWorks {
  constructor(
    private readonly outbox: OutboxRepository,
    private readonly idempotency: IdempotencyRepository,
  ) {
    super();
  }

  override periodicWork(): PeriodicWork[] {
    return [
      { name: 'core.prune-events', ...usual, run: () => this.outbox.prune() },
      { name: 'core.prune-idempotency-keys', ...usual, run: () => this.idempotency.prune() },
    ];
  }
}
