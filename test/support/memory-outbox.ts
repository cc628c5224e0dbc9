import type { Op } from '../../src/core/db/rows/op';
import { Outbox, type LiveEvent } from '../../src/core/events/outbox';

export class MemoryOutbox extends Outbox {
  readonly events: LiveEvent[] = [];
  override async publish(_op: Op, event: LiveEvent): Promise<void> {
    this.events.push(event);
  }
}
