import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { ChannelClaim } from '../../auth/channels/channels';

/** What a socket stands on, and what it is about. */
export interface Admission<A> {
  claim: ChannelClaim;
  target: A;
}

/**
 * A WebSocket endpoint below `/api/v1`. The server checks the `Origin` header (same origin, or absent for programs:
 * otherwise 403) and completes the handshake only after `admit` returned and its claim was found right; `admit` throws
 * a `Problem` to refuse. A socket whose claim is right no longer is cut.
 */
export interface SocketRoute<A = unknown> {
  path: string;
  /** Identity and permission from the request itself, e.g. a one-time ticket in the query. */
  admit: (req: IncomingMessage, query: URLSearchParams) => Promise<Admission<A>>;
  /** @param signal aborted when the claim has ended: nothing more may pass */
  open: (socket: WebSocket, target: A, signal: AbortSignal) => Promise<void>;
}

export abstract class SocketRoutes {
  abstract socketRoutes(): SocketRoute[];
}
