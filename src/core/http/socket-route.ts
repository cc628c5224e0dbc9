import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';

/**
 * A WebSocket endpoint below `/api/v1`. The server checks the `Origin` header (same origin, or absent for programs: otherwise 403)
 * and completes the handshake only after `admit` returned; `admit` throws a `Problem` to refuse.
 */
export interface SocketRoute<A = unknown> {
  path: string;
  /** Identity and permission from the request itself, e.g. a one-time ticket in the query. */
  admit: (req: IncomingMessage, url: URL) => Promise<A>;
  open: (socket: WebSocket, admitted: A) => Promise<void>;
}

export abstract class SocketRoutes {
  abstract socketRoutes(): SocketRoute[];
}
