import { injectable } from 'inversify';
import type { Op } from '../db/rows/op';
import { Outbox, type LiveEvent } from './outbox';
import { OutboxRepository } from './outbox.repository';

@injectable()
export class PostgresOutbox extends Outbox {
  constructor(private readonly repository: OutboxRepository) {
    super();
  }

  override async publish(op: Op, event: LiveEvent): Promise<void> {
    await this.repository.add(op, event);
  }
}
