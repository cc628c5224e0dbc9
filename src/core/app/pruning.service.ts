import { injectable } from 'inversify';
import { Service } from '../lifecycle/service';
import { OutboxRepository } from '../events/outbox.repository';
import { IdempotencyRepository } from '../http/routes/idempotency.repository';
import { Jobs } from '../jobs/jobs';

/** Forgets what core keeps for a while only: sent events and answers under an `Idempotency-Key` (24 hours). */
@injectable()
export class Pruning extends Service {
  constructor(
    private readonly jobs: Jobs,
    private readonly outbox: OutboxRepository,
    private readonly idempotency: IdempotencyRepository,
  ) {
    super();
  }

  override async start(): Promise<void> {
    await this.jobs.repeat('core.prune-events', 600_000, () => this.outbox.prune());
    await this.jobs.repeat('core.prune-idempotency-keys', 600_000, () => this.idempotency.prune());
  }

  override async stop(): Promise<void> {
    await Promise.resolve();
  }
}
