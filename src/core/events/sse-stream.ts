import type { ServerResponse } from 'node:http';
import type { LiveEventRecord } from './live-event-record';
import type { EventVisibility } from './event-visibility';
import type { OutgoingEvent } from './outgoing-event';

/** A reader that has this much unread is dropped; it may come back and resume. In bytes. */
const maxUnread = 1_048_576;
/** Events that may wait while older ones are sent again. */
const maxHeld = 2_000;

export interface EventFilter {
  project?: string | undefined;
  /** Nouns (`instance`) or whole types (`instance.updated`); empty for all. */
  types: readonly string[];
}

/** One Server-Sent Events response. */
export class SseStream {
  /** While older events are sent again, newer ones wait here. */
  private held: OutgoingEvent[] | undefined = [];
  private readonly closed = new Set<() => void>();

  constructor(
    private readonly res: ServerResponse,
    private rooms: ReadonlySet<string>,
    private readonly filter: EventFilter,
    private lastSeq: number,
    private readonly visibility: EventVisibility,
  ) {
    res.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    res.flushHeaders();
    res.once('close', () => this.closed.forEach((fn) => fn()));
    res.on('error', () => res.destroy());
  }

  onClose(fn: () => void): void {
    this.closed.add(fn);
  }

  get open(): boolean {
    return !this.res.destroyed && !this.res.writableEnded;
  }

  setRooms(rooms: readonly string[]): void {
    this.rooms = new Set(rooms);
  }

  /** Live events. */
  push(batch: readonly OutgoingEvent[]): void {
    if (!this.held) return this.send(batch);
    this.held.push(...batch);
    if (this.held.length > maxHeld) this.res.destroy();
  }

  /** Sends older events, no faster than they are read. */
  async replay(batch: readonly OutgoingEvent[]): Promise<void> {
    for (const event of batch) {
      this.send([event], Infinity);
      if (this.open && this.res.writableNeedDrain) await this.drained();
    }
  }

  /** The replay is done: what waited goes out, and then live events as they come. */
  live(): void {
    const held = this.held ?? [];
    this.held = undefined;
    this.send(held);
  }

  /** A control event: `ready`, `reset`, `end`. */
  control(name: string, data: object): void {
    if (this.open) this.res.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** A comment that keeps proxies and the client from giving up. */
  beat(): void {
    if (this.open) this.res.write(': beat\n\n');
  }

  end(code: string): void {
    this.control('end', { code });
    this.res.end();
    // A reader that does not read cannot hold the connection either.
    setTimeout(() => this.res.destroy(), 1_000).unref();
  }

  /**
   * A reader is given up when it left earlier batches unread: one large batch alone says nothing about how fast it
   * reads.
   */
  private send(batch: readonly OutgoingEvent[], limit = maxUnread): void {
    if (this.res.writableLength > limit) this.res.destroy();
    for (const outgoing of batch) {
      const { seq } = outgoing.event;
      if (!this.open) return;
      if (seq <= this.lastSeq) continue;
      this.lastSeq = seq;
      if (!this.wanted(outgoing.event)) continue;
      const told = this.visibility.formFor(outgoing, this.rooms);
      if (told !== undefined) this.res.write(`id: ${seq}\ndata: ${JSON.stringify(told)}\n\n`);
    }
  }

  private wanted(event: LiveEventRecord): boolean {
    if (this.filter.project !== undefined && event.projectId !== this.filter.project) return false;
    const { types } = this.filter;
    return types.length === 0 || types.includes(event.type) || types.includes(event.type.split('.')[0] ?? '');
  }

  private drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(late);
        this.closed.delete(done);
        this.res.off('drain', done);
        resolve();
      };
      const late = setTimeout(() => {
        this.res.destroy();
        done();
      }, 30_000);
      this.res.once('drain', done);
      this.closed.add(done);
    });
  }
}
