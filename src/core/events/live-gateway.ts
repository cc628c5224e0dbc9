import { createAdapter } from '@socket.io/redis-adapter';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Server, type DefaultEventsMap, type Socket } from 'socket.io';
import { Service } from '../app/module-manifest';
import { Authenticator } from '../auth/authenticator';
import type { Principal } from '../auth/principal';
import { HttpServer } from '../http/http-server';
import { sameOrigin, SocketGateway } from '../http/socket-gateway';
import { RedisClients } from '../jobs/redis-clients';
import { Logging } from '../telemetry/logging';
import { EventDispatcher } from './event-dispatcher';
import { roomsOfEvent, roomsOfPrincipal } from './event-visibility';
import type { LiveEventRecord } from './live-event-record';

interface ServerEvents {
  event: (event: LiveEventRecord) => void;
  /** The server is about to close the connection, and why. */
  end: (reason: { code: string }) => void;
}
interface SocketData {
  bearer: string;
}
type LiveServer = Server<Record<string, never>, ServerEvents, DefaultEventsMap, SocketData>;
type LiveSocket = Socket<Record<string, never>, ServerEvents, DefaultEventsMap, SocketData>;

export const livePath = '/api/v1/live';
const recheckMs = 10_000;
/** Packets that a client may leave unread before it is dropped. */
const maxUnread = 1_000;

/**
 * Live events for browsers over socket.io. Each process emits what its own dispatcher reads to its own clients only, so nothing comes
 * twice; with Redis the adapter joins the processes for what concerns all of them, such as closing a session's sockets.
 */
@injectable()
export class LiveGateway extends Service {
  private readonly log: Logger;
  private io: LiveServer | undefined;
  private timer: NodeJS.Timeout | undefined;
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly http: HttpServer,
    private readonly dispatcher: EventDispatcher,
    private readonly authenticator: Authenticator,
    private readonly redis: RedisClients,
    private readonly sockets: SocketGateway,
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
      allowRequest: (req, done) => done(null, sameOrigin(req)),
    });
    this.io = io;
    if (this.redis.enabled) io.adapter(createAdapter(this.redis.create({}), this.redis.create({})));
    io.use((socket, next) => {
      this.admit(socket).then(
        () => next(),
        (error: unknown) => {
          if (!(error instanceof Error && error.message === 'unauthenticated')) this.log.error({ err: error }, 'a live connection could not be judged');
          next(new Error(error instanceof Error && error.message === 'unauthenticated' ? 'unauthenticated' : 'unavailable'));
        },
      );
    });
    io.on('connection', (socket) => this.bound(socket));
    this.sockets.leave(livePath);
    io.attach(this.http.server);
    this.unsubscribe = this.dispatcher.subscribe({
      events: (batch) => {
        for (const event of batch) io.local.to(roomsOfEvent(event)).emit('event', event);
      },
      ended: () => undefined,
    });
    this.http.beforeStop(() => this.disconnectAll());
    this.timer = setInterval(() => void this.recheckAll(), recheckMs);
    await Promise.resolve();
  }

  override async stop(): Promise<void> {
    clearInterval(this.timer);
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

  /** Ends all live connections of a session or API token, in every process that shares the Redis; without Redis, here. Others end at their next check. */
  closeSession(sessionId: string): void {
    this.io?.in(`session:${sessionId}`).disconnectSockets(true);
  }

  private async admit(socket: LiveSocket): Promise<void> {
    const token: unknown = (socket.handshake.auth as Record<string, unknown> | undefined)?.['token'];
    if (typeof token !== 'string' || token.length > 8192 || !/^[\x21-\x7e]+$/.test(token)) throw new Error('unauthenticated');
    const principal = await this.authenticator.authenticate(token);
    if (!principal) throw new Error('unauthenticated');
    socket.data.bearer = token;
    await this.join(socket, principal);
  }

  private async join(socket: LiveSocket, principal: Principal): Promise<void> {
    const wanted = new Set([`session:${principal.sessionId}`, ...roomsOfPrincipal(principal)]);
    for (const room of socket.rooms) if (room !== socket.id && !wanted.has(room)) await socket.leave(room);
    await socket.join([...wanted]);
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

  private async recheckAll(): Promise<void> {
    for (const socket of this.io?.sockets.sockets.values() ?? []) {
      try {
        const principal = await this.authenticator.authenticate(socket.data.bearer);
        if (principal) {
          await this.join(socket, principal);
          continue;
        }
        socket.emit('end', { code: 'unauthenticated' });
      } catch (error) {
        this.log.warn({ err: error }, 'a live connection could not be judged again');
        socket.emit('end', { code: 'unavailable' });
      }
      socket.disconnect(true);
    }
  }
}
