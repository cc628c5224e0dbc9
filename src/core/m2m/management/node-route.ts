import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * A path on port 8445 that an enrolled node may call (mTLS): e.g. image bytes. `hostId` comes from the client
 * certificate.
 */
export interface NodeRoute {
  method: 'GET' | 'POST';
  /** Below `/node`, Express syntax: `/images/:id/content`. */
  path: string;
  handle: (req: {
    hostId: string;
    params: Record<string, string>;
    raw: IncomingMessage;
    res: ServerResponse;
  }) => Promise<void>;
}

/** A path that a host calls before it has a certificate: whatever lets it in is in the request itself. */
export type AnonymousNodeRoute = Omit<NodeRoute, 'handle'> & {
  handle: (req: { params: Record<string, string>; raw: IncomingMessage; res: ServerResponse }) => Promise<void>;
};

export abstract class NodeRoutes {
  abstract nodeRoutes(): NodeRoute[];
  anonymousRoutes?(): AnonymousNodeRoute[];
}

/** Node half: its way to management (port 8445), with its own certificate. */
export abstract class ManagementClient {
  /** GET as a stream. Throws on any status but 200. `path` below `/node`. */
  abstract download(path: string, signal?: AbortSignal): Promise<NodeJS.ReadableStream>;
  /** POST of JSON; the parsed answer. */
  abstract post(path: string, body: unknown): Promise<unknown>;
}

/**
 * Milliseconds that management waits for a host to open a stream. A handler that needs time says why it cannot before
 * that, or its host is said not to answer.
 */
export const streamOpenMs = 5_000;

/** Node half: a byte-stream endpoint on port 8444, opened by `NodeCaller.stream`. */
export abstract class StreamHandlers {
  abstract streams(): StreamHandler[];
}

export interface StreamHandler {
  /** Express syntax: `/streams/instances/:id/console`. */
  path: string;
  /**
   * Prepares the other end. Throws `VerbFailure` to refuse the stream: `NodeCaller.stream` rejects with its code and
   * words. Otherwise it is accepted, and what was returned joins it; it may have been cut by then.
   */
  open: (params: Record<string, string>) => Promise<(stream: Duplex) => void>;
}
