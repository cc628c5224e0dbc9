import { injectable, multiInject, optional } from 'inversify';
import type { Logger } from 'pino';
import { Logging } from '../telemetry/logging';
import { EventDetails, type ToldData } from './event-details';
import type { LiveEventRecord } from './live-event-record';
import { OutboxRepository } from './outbox.repository';
import type { OutgoingEvent } from './outgoing-event';

/** Reads events as they are told: what the outbox holds, with what modules say of it. */
@injectable()
export class EventSource {
  private readonly log: Logger;

  constructor(
    private readonly outbox: OutboxRepository,
    logging: Logging,
    @multiInject(EventDetails) @optional() private readonly details: readonly EventDetails[] = [],
  ) {
    this.log = logging.for('events');
  }

  /** Events with `after` < seq <= `upTo`, in order, at most `limit`. */
  async between(after: number, upTo: number, limit: number): Promise<OutgoingEvent[]> {
    const events = await this.outbox.between(after, upTo, limit);
    const told = new Map<number, ToldData>();
    for (const details of this.details) {
      const own = events.filter(({ type }) => type === details.type);
      if (own.length > 0) for (const [seq, data] of await this.said(details, own)) told.set(seq, data);
    }
    return events.map((event) => {
      const data = told.get(event.seq);
      if (data === undefined) return { event };
      const { plain, insight } = data;
      return {
        event: { ...event, data: plain },
        insight: { noun: insight.noun, event: { ...event, data: insight.data } },
      };
    });
  }

  /** No event waits for what cannot be said of it: what was stored is told then. */
  private async said(
    details: EventDetails,
    events: readonly LiveEventRecord[],
  ): Promise<ReadonlyMap<number, ToldData>> {
    try {
      return await details.of(events);
    } catch (error) {
      this.log.warn({ err: error, type: details.type }, 'events are told without their details');
      return new Map();
    }
  }
}
