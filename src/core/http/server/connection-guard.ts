import type { ServerOptions } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { CoreConfig } from '../../config/core-config';
import { networkOf } from './address-network';

type Limits = CoreConfig['limits'];

/** How often Node looks for headers and bodies that are late. Milliseconds. */
const checkMs = 1_000;
const longestHeaders = 16_384;
/**
 * A connection without a request is kept this long. Milliseconds. Node's 5 s end it under clients and proxies that keep
 * theirs for a minute (nginx 60 s, most load balancers 60 s): a request sent at that moment would be lost.
 */
const idleMs = 75_000;

/** For `createServer` of every listener: deadlines of handshake, headers and idle connections, strict parsing. */
export const guardedOptions = (limits: Limits): ServerOptions => ({
  handshakeTimeout: limits.handshakeMs,
  headersTimeout: limits.headersMs,
  keepAliveTimeout: idleMs,
  connectionsCheckingInterval: Math.min(checkMs, limits.headersMs),
  maxHeaderSize: longestHeaders,
  insecureHTTPParser: false,
  requireHostHeader: true,
});

/**
 * Bounds the connections of a listener, in all and per client address; what is beyond is closed at once. Before it
 * listens.
 */
export class ConnectionGuard {
  private readonly open = new Map<string, number>();
  private readonly secure = new WeakSet<Socket>();

  constructor(server: Server, limits: Limits) {
    server.maxConnections = limits.connections;
    server.on('connection', (socket: Socket) => this.count(socket, limits.connectionsPerAddress));
    server.on('secureConnection', (socket: TLSSocket) => void this.secure.add(socket));
  }

  /** Whether the handshake is done: before that there is nothing to be said to the peer. */
  isSecure(socket: Socket): boolean {
    return this.secure.has(socket);
  }

  private count(socket: Socket, limit: number): void {
    const network = networkOf(socket.remoteAddress ?? '');
    const open = (this.open.get(network) ?? 0) + 1;
    if (limit > 0 && open > limit) {
      socket.destroy();
      return;
    }
    this.open.set(network, open);
    socket.once('close', () => {
      const left = (this.open.get(network) ?? 1) - 1;
      if (left > 0) this.open.set(network, left);
      else this.open.delete(network);
    });
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** How long a sender whose body is not wanted may go on before its connection is cut. Milliseconds. */
const lingerMs = 2_000;

/**
 * Closes our half of the connection and reads on for a while: a connection that is cut while the peer still sends is
 * reset, and with that the peer loses the answer that it has not read yet (RFC 9112, section 9.6).
 */
const linger = (socket: Socket, req: IncomingMessage, destroySoon: () => void): void => {
  const cut = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(cut));
  req.once('end', destroySoon);
  req.removeAllListeners('data').resume();
  socket.end();
};

/**
 * An answer that comes before the whole body has does not want the rest: it ends the connection, however slowly that
 * would come.
 */
export const endWithUnreadBody = (req: IncomingMessage, res: ServerResponse): void => {
  if (!hasBody(req)) return;
  // A request that has failed has none any more.
  const { socket } = req;
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => ServerResponse;
  res.writeHead = ((...args: unknown[]) => {
    if (!req.complete && !res.headersSent) {
      res.setHeader('connection', 'close');
      const destroySoon = socket.destroySoon.bind(socket);
      // So Node ends a connection after its last answer, when that has left.
      socket.destroySoon = () => (req.complete ? destroySoon() : linger(socket, req, destroySoon));
    }
    return writeHead(...args);
  }) as typeof res.writeHead;
};
