import { setTimeout as delay } from 'node:timers/promises';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Service } from '../lifecycle/service';
import { Database } from '../db/database';
import { Logging } from '../telemetry/logging';
import { EventSource } from './event-source';
import { outboxChannel, OutboxRepository } from './outbox.repository';
import type { OutgoingEvent } from './outgoing-event';

export interface EventSubscriber {
  events(batch: readonly OutgoingEvent[]): void;
  /** This process stops dispatching: no more events come. */
  ended(): void;
}

const batchSize = 500;
const pollMs = 1_000;
const firstRecheckMs = 10;
const lastRecheckMs = 250;
/** Under load events go out together: rounds begin at least so far apart. Milliseconds. */
const gatherMs = 50;
/** A client may have seen what another process told it and this one has not read yet. */
const behindMs = 5_000;

/**
 * Reads the outbox and hands every event once, in the order of its sequence number, to this process's subscribers. Each
 * management process dispatches to its own clients.
 *
 * A transaction that commits late may hold a lower number than one that committed early. So a number is passed only
 * when every transaction that could hold a lower one has ended: those have ids below one that is drawn after the number
 * was seen, and have ended once xmin got there.
 */
@injectable()
export class EventDispatcher extends Service {
  private readonly log: Logger;
  private readonly subscribers = new Set<EventSubscriber>();
  private delivered = 0;
  private waiting: { seq: number; horizon: bigint; since: number } | undefined;
  private recheckMs = firstRecheckMs;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private again = false;
  private lastRound = Number.NEGATIVE_INFINITY;
  private started = false;
  private unlisten: (() => Promise<void>) | undefined;

  constructor(
    private readonly repository: OutboxRepository,
    private readonly source: EventSource,
    private readonly database: Database,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('events');
  }

  /** The last sequence number handed out. */
  get position(): number {
    return this.delivered;
  }

  /**
   * Waits until this process has handed out number `seq`, which a client may have from another process; while `wanted`.
   * False when it has not within five seconds, or nobody ever gave that number out: it is of another history, from
   * before a backup was restored, say.
   */
  async reach(seq: number, wanted: () => boolean): Promise<boolean> {
    if (seq <= this.delivered) return true;
    if (seq > (await this.repository.lastDrawn())) return false;
    for (const end = performance.now() + behindMs; seq > this.delivered; await delay(20)) {
      if (performance.now() > end || !wanted()) return false;
    }
    return true;
  }

  /** Events after `position` from now on. Returns the way to unsubscribe. */
  subscribe(subscriber: EventSubscriber): () => void {
    this.subscribers.add(subscriber);
    return () => void this.subscribers.delete(subscriber);
  }

  override async start(): Promise<void> {
    if (this.started) return;
    this.started = true;
    this.delivered = (await this.repository.head()).seq;
    this.unlisten = await this.database.listen(outboxChannel, () => this.wake());
    this.wake();
  }

  override async stop(): Promise<void> {
    if (!this.started) return;
    this.started = false;
    clearTimeout(this.timer);
    await this.running;
    await this.unlisten?.().catch(() => undefined);
    for (const subscriber of [...this.subscribers]) subscriber.ended();
    this.subscribers.clear();
  }

  private wake(): void {
    if (!this.started) return;
    if (this.running) {
      this.again = true;
      return;
    }
    clearTimeout(this.timer);
    const early = this.lastRound + gatherMs - performance.now();
    if (early > 0) {
      this.timer = setTimeout(() => this.wake(), early);
      return;
    }
    this.lastRound = performance.now();
    this.running = this.round().finally(() => {
      this.running = undefined;
      if (this.again) {
        this.again = false;
        this.wake();
      }
    });
  }

  private async round(): Promise<void> {
    let pause = pollMs;
    try {
      if (await this.advance()) this.recheckMs = firstRecheckMs;
      if (this.waiting) {
        pause = this.recheckMs;
        this.recheckMs = Math.min(this.recheckMs * 1.5, lastRecheckMs);
      }
    } catch (error) {
      this.log.warn({ err: error }, 'the outbox cannot be read; tried again');
    }
    if (this.started) this.timer = setTimeout(() => this.wake(), pause);
  }

  /** True when something was delivered. */
  private async advance(): Promise<boolean> {
    let head = await this.repository.head();
    if (!this.waiting && head.seq > this.delivered) {
      this.waiting = { seq: head.seq, horizon: await this.repository.horizon(), since: Date.now() };
      head = await this.repository.head();
    }
    const settled = this.waiting && head.xmin >= this.waiting.horizon ? this.waiting.seq : undefined;
    if (settled !== undefined) {
      this.waiting = undefined;
      // What came meanwhile is looked at at once.
      this.again ||= head.seq > settled;
    }
    if (this.waiting && Date.now() - this.waiting.since > 10_000) {
      this.log.warn(
        { xmin: String(head.xmin), seconds: Math.round((Date.now() - this.waiting.since) / 1000) },
        'an old transaction holds up live events',
      );
      this.waiting.since = Date.now();
    }
    if (settled === undefined) return false;
    while (this.started && this.delivered < settled) {
      const batch = await this.source.between(this.delivered, settled, batchSize);
      const last = batch.at(-1)?.event;
      this.delivered = batch.length === batchSize && last ? last.seq : settled;
      if (batch.length > 0) this.hand(batch);
    }
    return true;
  }

  private hand(batch: readonly OutgoingEvent[]): void {
    for (const subscriber of [...this.subscribers]) {
      try {
        subscriber.events(batch);
      } catch (error) {
        this.log.error({ err: error }, 'a subscriber failed and is dropped');
        this.subscribers.delete(subscriber);
      }
    }
  }
}
