import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Server, type DefaultEventsMap, type Socket } from 'socket.io';
import { Service } from '../lifecycle/service';
import { BearerAuthentication, unauthenticated } from '../auth/bearer-authentication';
import { Channels } from '../auth/channels/channels';
import { credentialOf, type Principal } from '../auth/principal';
import { Problem } from '../errors/problem';
import { HttpServer } from '../http/server/http-server';
import { targetOf } from '../http/server/request-target';
import { sameOrigin, SocketGateway } from '../http/sockets/socket-gateway';
import { Logging } from '../telemetry/logging';
import { EventDispatcher } from './event-dispatcher';
import { EventSource } from './event-source';
import { EventVisibility } from './event-visibility';
import type { LiveEventRecord } from './live-event-record';
import { OutboxRepository } from './outbox.repository';
import type { OutgoingEvent } from './outgoing-event';

interface ServerEvents {
  event: (event: LiveEventRecord) => void;
  /**
   * All events after this one come from here on. `rights` stands for what the user sees: where it is another than at an
   * earlier connection, the user saw more or less then.
   */
  ready: (at: { seq: number; rights: string }) => void;
  /** Some of the events that were asked for are no longer kept: load everything anew. */
  reset: (reason: { reason: string }) => void;
  /** The user sees more or less than before: what was loaded is to be asked for again. */
  rights: () => void;
  /** The server is about to close the connection, and why. */
  end: (reason: { code: string }) => void;
}
interface SocketData {
  rooms: string[];
  /** The last event that the client has seen; undefined for one that wants only what comes. */
  since: number | undefined;
  /** Whether it gets events as they come; until then older ones are sent to it. */
  live: boolean;
}
type LiveServer = Server<Record<string, never>, ServerEvents, DefaultEventsMap, SocketData>;
type LiveSocket = Socket<Record<string, never>, ServerEvents, DefaultEventsMap, SocketData>;

const livePath = '/api/v1/live';
/** Packets that a client may leave unread before it is dropped. */
const maxUnread = 1_000;
/** Events that are read at a time for a client that resumes; well below what it may leave unread. */
const replayBatch = 200;
const replayDrainMs = 30_000;

/**
 * Live events for browsers over socket.io. A client that names the last event it has seen (`auth.since`) gets what came
 * after it first, at whichever process. Each process emits what its own dispatcher reads to its own clients only, so
 * nothing comes twice.
 */
@injectable()
export class LiveGateway extends Service {
  private readonly log: Logger;
  private io: LiveServer | undefined;
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly http: HttpServer,
    private readonly dispatcher: EventDispatcher,
    private readonly authentication: BearerAuthentication,
    private readonly channels: Channels,
    private readonly sockets: SocketGateway,
    private readonly outbox: OutboxRepository,
    private readonly source: EventSource,
    private readonly visibility: EventVisibility,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('live');
  }

  override async start(): Promise<void> {
    if (this.io) return;
    const io: LiveServer = new Server({
      path: livePath,
      serveClient: false,
      maxHttpBufferSize: 65_536,
      connectTimeout: 10_000,
      pingInterval: 15_000,
      pingTimeout: 10_000,
      perMessageDeflate: false,
      // Other upgrades of the same port belong to the socket gateway.
      destroyUpgrade: false,
      allowRequest: (req, done) => done(null, sameOrigin(req) && asWritten(req)),
    });
    this.io = io;
    io.use((socket, next) => {
      this.admit(socket).then(
        () => next(),
        (error: unknown) => {
          if (!(error instanceof Problem)) this.log.error({ err: error }, 'a live connection could not be judged');
          next(new Error(error instanceof Problem ? error.code : 'unavailable'));
        },
      );
    });
    io.on('connection', (socket) => {
      this.bound(socket);
      this.begin(socket).catch((error: unknown) => {
        this.log.warn({ err: error }, 'older events could not be sent');
        socket.emit('end', { code: 'unavailable' });
        socket.disconnect(true);
      });
    });
    this.sockets.leave(livePath);
    io.attach(this.http.server);
    this.unsubscribe = this.dispatcher.subscribe({
      events: (batch) => {
        for (const outgoing of batch) this.tell(io, outgoing);
      },
      ended: () => undefined,
    });
    this.http.beforeStop(() => this.disconnectAll());
    await Promise.resolve();
  }

  override async stop(): Promise<void> {
    this.unsubscribe?.();
    const { io } = this;
    this.io = undefined;
    if (io) this.disconnectAll(io);
    await Promise.resolve();
  }

  private disconnectAll(io = this.io): void {
    io?.local.emit('end', { code: 'server_stops' });
    io?.local.disconnectSockets(true);
    io?.engine.close();
  }

  private async admit(socket: LiveSocket): Promise<void> {
    const { token, since } = (socket.handshake.auth ?? {}) as Record<string, unknown>;
    if (typeof token !== 'string' || token.length > 8192 || !/^[\x21-\x7e]+$/.test(token)) throw unauthenticated();
    const principal = await this.authentication.principalOf(token, socket.request.socket.remoteAddress);
    const channel = await this.channels.open(
      { kind: 'live', credential: credentialOf(principal) },
      {
        end: (code) => {
          socket.emit('end', { code });
          socket.disconnect(true);
        },
        rechecked: (now) => void this.follow(socket, now),
      },
    );
    socket.conn.once('close', channel.close);
    if (socket.conn.readyState !== 'open') channel.close();
    socket.data.rooms = this.visibility.roomsOfPrincipal(channel.principal);
    socket.data.live = false;
    socket.data.since = typeof since === 'number' && Number.isSafeInteger(since) && since >= 0 ? since : undefined;
  }

  /** Sends older events if asked to, and joins the rooms in the very moment in which none is missing. */
  private async begin(socket: LiveSocket): Promise<void> {
    let at = socket.data.since ?? this.dispatcher.position;
    if (!(await this.dispatcher.reach(at, () => socket.connected))) {
      socket.emit('reset', { reason: 'there is no such event' });
      at = this.dispatcher.position;
    } else if (at < this.dispatcher.position) {
      const oldest = await this.outbox.oldest();
      if (oldest === null || oldest > at + 1) socket.emit('reset', { reason: 'older events are no longer kept' });
    }
    while (socket.connected && at < this.dispatcher.position) {
      const upTo = this.dispatcher.position;
      const batch = await this.source.between(at, upTo, replayBatch);
      for (const outgoing of batch) this.tellOne(socket, outgoing);
      at = batch.length === replayBatch ? (batch.at(-1)?.event.seq ?? upTo) : upTo;
      await this.drained(socket);
    }
    if (!socket.connected) return;
    socket.emit('ready', { seq: Math.max(at, this.dispatcher.position), rights: digestOf(socket.data.rooms) });
    socket.data.live = true;
    await socket.join(socket.data.rooms);
  }

  /** Written once for all that are told the same; the few who are told more are told one by one. */
  private tell(io: LiveServer, outgoing: OutgoingEvent): void {
    const { event, insight } = outgoing;
    const all = io.local.to(this.visibility.roomsOfEvent(event));
    if (insight === undefined) return void all.emit('event', event);
    const rooms = this.visibility.roomsOfInsight(insight.noun);
    all.except(rooms).emit('event', event);
    const { sockets, adapter } = io.of('/');
    for (const id of new Set(rooms.flatMap((room) => [...(adapter.rooms.get(room) ?? [])]))) {
      const socket = sockets.get(id);
      if (socket) this.tellOne(socket, outgoing);
    }
  }

  private tellOne(socket: LiveSocket, outgoing: OutgoingEvent): void {
    const told = this.visibility.formFor(outgoing, new Set(socket.data.rooms));
    if (told !== undefined) socket.emit('event', told);
  }

  /** Resolves once the transport has taken what was sent to it. */
  private async drained(socket: LiveSocket): Promise<void> {
    const end = performance.now() + replayDrainMs;
    while (socket.connected && !socket.conn.transport.writable) {
      if (performance.now() > end) throw new Error('the client does not read');
      await pause();
    }
  }

  /** Its rights may be others than before. */
  private async follow(socket: LiveSocket, principal: Principal): Promise<void> {
    const before = new Set(socket.data.rooms);
    const wanted = this.visibility.roomsOfPrincipal(principal);
    socket.data.rooms = wanted;
    if (!socket.data.live) return;
    for (const room of socket.rooms) if (room !== socket.id && !wanted.includes(room)) await socket.leave(room);
    await socket.join(wanted);
    // No event says so to somebody who may not see it any more: what was loaded before is to be asked for again.
    if (before.size !== wanted.length || wanted.some((room) => !before.has(room))) socket.emit('rights');
  }

  /** Counts what the transport has not taken yet. */
  private bound(socket: LiveSocket): void {
    let unread = 0;
    socket.conn.on('packetCreate', () => {
      unread += 1;
      if (unread > maxUnread) socket.conn.close(true);
    });
    socket.conn.on('drain', () => {
      unread = 0;
    });
  }
}

/** The library takes whatever lies below its path for its own. */
const asWritten = (req: IncomingMessage): boolean => {
  try {
    return targetOf(req).path === `${livePath}/`;
  } catch {
    return false;
  }
};

const digestOf = (rooms: readonly string[]): string =>
  createHash('sha256')
    .update([...rooms].sort().join('\n'))
    .digest('base64url')
    .slice(0, 22);

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
