import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Server } from 'node:https';
import type { Duplex } from 'node:stream';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { WebSocketServer, type WebSocket } from 'ws';
import { Problem } from '../../errors/problem';
import { closeFrame, type ChannelEnd } from '../../auth/channels/channel-end';
import { Channels } from '../../auth/channels/channels';
import { Logging } from '../../telemetry/logging';
import { problemDocument, problemHeaders } from '../problems/problem-document';
import { problemOf } from '../problems/problem-mapping';
import { targetOf } from '../server/request-target';
import { SecretLimiter } from '../secret-limiter';
import { PeriodicWorks, type PeriodicWork } from '../../periodic/periodic-work';
import type { SocketRoute, SocketRoutes } from './socket-route';

/** How long a socket that is cut may take to close. */
const cutMs = 1_000;

const internal = (): Problem =>
  new Problem({ status: 500, code: 'internal_error', detail: 'Something failed here. Ask with the request id.' });

/** Same origin, or none (programs). A page from elsewhere must not use a visitor's rights. */
export const sameOrigin = (req: IncomingMessage): boolean => {
  const { origin, host } = req.headers;
  return origin === undefined || (host !== undefined && origin.toLowerCase() === `https://${host.toLowerCase()}`);
};

/** WebSocket endpoints of the modules. */
@injectable()
export class SocketGateway extends PeriodicWorks {
  private readonly log: Logger;
  private readonly server = new WebSocketServer({
    noServer: true,
    maxPayload: 1_048_576,
    perMessageDeflate: false,
    clientTracking: true,
  });
  private readonly routes: { pattern: RegExp; route: SocketRoute }[] = [];
  /** Paths below which someone else answers upgrades. */
  private readonly foreign: string[] = [];
  private readonly alive = new WeakSet<WebSocket>();

  constructor(
    logging: Logging,
    private readonly limiter: SecretLimiter,
    private readonly channels: Channels,
  ) {
    super();
    this.log = logging.for('sockets');
  }

  mount(sockets: readonly SocketRoutes[]): void {
    for (const route of sockets.flatMap((s) => s.socketRoutes())) {
      const pattern = new RegExp(`^/api/v1${route.path.replace(/[.]/g, '\\.').replace(/:[A-Za-z0-9_]+/g, '[^/]+')}$`);
      this.routes.push({ pattern, route });
    }
  }

  /** Leaves upgrades below this path to another listener of the same server, which answers all of them. */
  leave(path: string): void {
    this.foreign.push(path);
  }

  attach(server: Server): void {
    server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      this.upgrade(req, socket, head).catch((error: unknown) => this.refuse(req, socket, error));
    });
  }

  override periodicWork(): PeriodicWork[] {
    const run = async (): Promise<void> => this.dropDead();
    return [{ name: 'core.drop-dead-sockets', everyMs: 30_000, scope: 'process', deadlineMs: 10_000, run }];
  }

  close(): void {
    for (const socket of this.server.clients) socket.close(1001, 'server stops');
    setTimeout(() => {
      for (const socket of this.server.clients) socket.terminate();
    }, 1_000).unref();
  }

  private async upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { path, search } = targetOf(req);
    if (this.foreign.some((foreign) => path.startsWith(`${foreign}/`))) return;
    const found = this.routes.find(({ pattern }) => pattern.test(path));
    if (!found) throw new Problem({ status: 404, code: 'not_found', detail: 'There is no such socket.' });
    if (!sameOrigin(req))
      throw new Problem({
        status: 403,
        code: 'foreign_origin',
        detail: 'Pages from another origin may not open this.',
      });
    const { claim, target } = await found.route
      .admit(req, new URLSearchParams(search))
      .catch((error: unknown) => this.refused(req, error));
    const cut = new AbortController();
    let opened: WebSocket | undefined;
    const end = (code: ChannelEnd): void => {
      cut.abort();
      if (opened) this.cut(opened, code);
      else socket.destroy();
    };
    const channel = await this.channels.open(claim, { end });
    socket.once('close', channel.close);
    if (socket.destroyed) return channel.close();
    this.server.handleUpgrade(req, socket, head, (ws) => {
      opened = ws;
      this.alive.add(ws);
      ws.on('pong', () => this.alive.add(ws));
      ws.on('error', (error) => this.log.debug({ err: error }, 'socket error'));
      found.route.open(ws, target, cut.signal).catch((error: unknown) => {
        const problem = problemOf(error);
        if (!problem) this.log.error({ err: error, path }, 'a socket failed');
        ws.close(1011, (problem?.detail ?? 'internal error').slice(0, 100));
      });
    });
  }

  /** A wrong ticket counts like any other wrong secret. */
  private async refused(req: IncomingMessage, error: unknown): Promise<never> {
    if (error instanceof Problem && error.status === 401) await this.limiter.failed(req.socket.remoteAddress ?? '');
    throw error;
  }

  /** Says why, and does not wait long for the peer to agree. */
  private cut(ws: WebSocket, end: ChannelEnd): void {
    const { code, reason } = closeFrame(end);
    ws.close(code, reason);
    setTimeout(() => ws.terminate(), cutMs).unref();
  }

  private refuse(req: IncomingMessage, socket: Duplex, error: unknown): void {
    const problem = problemOf(error) ?? internal();
    const requestId = randomUUID();
    if (problem.status >= 500) this.log.error({ err: error, requestId }, 'a socket could not be opened');
    const body = JSON.stringify(problemDocument(problem, (req.url ?? '/').split('?')[0] ?? '/', requestId));
    const headers = {
      ...problemHeaders(problem),
      connection: 'close',
      'content-length': String(Buffer.byteLength(body)),
    };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.end(
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Error'}\r\n${head.join('\r\n')}\r\n\r\n${body}`,
    );
  }

  /** A peer that answered no ping since the last round is gone. */
  private dropDead(): void {
    for (const socket of this.server.clients) {
      if (!this.alive.delete(socket)) socket.terminate();
      else socket.ping();
    }
  }
}
