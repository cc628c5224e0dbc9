import type { ServerResponse } from 'node:http';
import { injectable } from 'inversify';
import { Channels } from '../auth/channels/channels';
import { credentialOf, type Principal } from '../auth/principal';
import { EventDispatcher } from './event-dispatcher';
import { EventSource } from './event-source';
import { EventVisibility } from './event-visibility';
import { OutboxRepository } from './outbox.repository';
import { SseStream, type EventFilter } from './sse-stream';

export interface StreamRequest {
  principal: Principal;
  filter: EventFilter;
  /** Resume after this sequence number; live only when undefined. */
  since: number | undefined;
  res: ServerResponse;
}

/** Server-Sent Events: live, resumable, ended when the credential ends. */
@injectable()
export class EventStreams {
  constructor(
    private readonly dispatcher: EventDispatcher,
    private readonly repository: OutboxRepository,
    private readonly source: EventSource,
    private readonly channels: Channels,
    private readonly visibility: EventVisibility,
  ) {}

  /** The last event that this process has told its streams. */
  get position(): number {
    return this.dispatcher.position;
  }

  /** Answers with a stream and returns once it is live. Throws 429 or 503 when there are too many. */
  async serve({ principal, filter, since, res }: StreamRequest): Promise<void> {
    const to: { stream?: SseStream } = {};
    const channel = await this.channels.open(
      {
        kind: 'events',
        credential: credentialOf(principal),
        subject: filter.project === undefined ? undefined : { kind: 'project', id: filter.project },
        allows: (now) =>
          filter.project === undefined ||
          now.systemRoles.includes('admin') ||
          now.memberships.some((m) => m.projectId === filter.project),
      },
      {
        end: (code) => (to.stream ? to.stream.end(code) : res.destroy()),
        rechecked: (now) => {
          to.stream?.setRooms(this.visibility.roomsOfPrincipal(now));
          to.stream?.beat();
        },
      },
    );
    res.once('close', channel.close);
    if (res.destroyed) return channel.close();
    const known = since === undefined || (await this.dispatcher.reach(since, () => !res.destroyed));
    const position = this.dispatcher.position;
    const from = known ? (since ?? position) : position;
    const opened = new SseStream(
      res,
      new Set(this.visibility.roomsOfPrincipal(channel.principal)),
      filter,
      from,
      this.visibility,
    );
    to.stream = opened;
    opened.onClose(
      this.dispatcher.subscribe({ events: (batch) => opened.push(batch), ended: () => opened.end('server_stops') }),
    );
    if (!known) opened.control('reset', { reason: 'there is no such event' });
    try {
      await this.catchUp(opened, from, position);
      opened.control('ready', { seq: position });
      opened.live();
    } catch (error) {
      res.destroy();
      throw error;
    }
  }

  private async catchUp(stream: SseStream, from: number, position: number): Promise<void> {
    if (from >= position) return;
    const oldest = await this.repository.oldest();
    // What was pruned cannot be told any more: the client loads its lists again.
    if (oldest === null || oldest > from + 1) stream.control('reset', { reason: 'older events are no longer kept' });
    for (let at = from; stream.open; ) {
      const batch = await this.source.between(at, position, 100);
      const last = batch.at(-1)?.event;
      if (!last) return;
      await stream.replay(batch);
      at = last.seq;
    }
  }
}
