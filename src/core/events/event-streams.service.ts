import type { ServerResponse } from 'node:http';
import { injectable } from 'inversify';
import { Authenticator } from '../auth/authenticator';
import type { Principal } from '../auth/principal';
import { Problem } from '../errors/problem';
import { HttpServer } from '../http/http-server';
import { EventDispatcher } from './event-dispatcher';
import { roomsOfPrincipal } from './event-visibility';
import { OutboxRepository } from './outbox.repository';
import { SseStream, type EventFilter } from './sse-stream';

const maxStreams = 2_000;
const maxStreamsPerPrincipal = 50;
/** How often a stream's credential is looked at again. Below the 15 s within which a revoked one must end. */
const recheckMs = 10_000;

export interface StreamRequest {
  principal: Principal;
  bearer: string;
  filter: EventFilter;
  /** Resume after this sequence number; live only when undefined. */
  since: number | undefined;
  res: ServerResponse;
}

/** Server-Sent Events: live, resumable, ended when the credential ends. */
@injectable()
export class EventStreams {
  private readonly open = new Map<SseStream, string>();

  constructor(
    private readonly dispatcher: EventDispatcher,
    private readonly repository: OutboxRepository,
    private readonly authenticator: Authenticator,
    http: HttpServer,
  ) {
    http.beforeStop(() => this.endAll());
  }

  /** Answers with a stream and returns once it is live. Throws 429 or 503 when there are too many. */
  async serve({ principal, bearer, filter, since, res }: StreamRequest): Promise<void> {
    if (this.open.size >= maxStreams) throw new Problem({ status: 503, code: 'too_many_streams', detail: 'This server has as many event streams as it takes.', extra: { retryAfterSeconds: 5 } });
    const own = [...this.open.values()].filter((id) => id === principal.id).length;
    if (own >= maxStreamsPerPrincipal) throw new Problem({ status: 429, code: 'too_many_streams', detail: `At most ${maxStreamsPerPrincipal} event streams at a time.`, extra: { retryAfterSeconds: 5 } });
    const position = this.dispatcher.position;
    const from = since ?? position;
    const stream = new SseStream(res, new Set(roomsOfPrincipal(principal)), filter, from);
    this.open.set(stream, principal.id);
    const unsubscribe = this.dispatcher.subscribe({ events: (batch) => stream.push(batch), ended: () => stream.end('server_stops') });
    const recheck = setInterval(() => void this.recheck(stream, bearer), recheckMs);
    stream.onClose(() => {
      clearInterval(recheck);
      unsubscribe();
      this.open.delete(stream);
    });
    try {
      await this.catchUp(stream, from, position);
      stream.control('ready', { seq: Math.max(position, from) });
      stream.live();
    } catch (error) {
      res.destroy();
      throw error;
    }
  }

  private endAll(): void {
    for (const stream of [...this.open.keys()]) stream.end('server_stops');
  }

  private async catchUp(stream: SseStream, from: number, position: number): Promise<void> {
    if (from >= position) return;
    const oldest = await this.repository.oldest();
    // What was pruned cannot be told any more: the client loads its lists again.
    if (oldest === null || oldest > from + 1) stream.control('reset', { reason: 'older events are no longer kept' });
    for (let at = from; stream.open; ) {
      const batch = await this.repository.between(at, position, 100);
      const last = batch.at(-1);
      if (!last) return;
      await stream.replay(batch);
      at = last.seq;
    }
  }

  private async recheck(stream: SseStream, bearer: string): Promise<void> {
    try {
      const principal = await this.authenticator.authenticate(bearer);
      if (!principal) return stream.end('unauthenticated');
      stream.setRooms(roomsOfPrincipal(principal));
      stream.beat();
    } catch {
      // Who cannot be verified is not served; the client comes back and resumes.
      stream.end('unavailable');
    }
  }
}
