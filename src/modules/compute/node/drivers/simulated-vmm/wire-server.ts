import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { RequestParser, type ParserOptions, type WireRequest } from './request-parser';

/**
 * What goes back. No `body`: 204 has no length at all, other statuses say 0. `foreign`: from the HTTP library itself,
 * not the API.
 */
export interface WireReply {
  status: number;
  body?: string;
  foreign?: boolean;
}

const mostConnections = 10;
/** A client that does not read its last answer is given up after so many milliseconds. */
const flushMs = 500;

const render = ({ status, body, foreign }: WireReply): string => {
  const head = `HTTP/1.1 ${status} \r\nServer: ${foreign ? 'Firecracker API' : 'Cloud Hypervisor API'}\r\nConnection: keep-alive\r\n`;
  if (status === 204) return `${head}\r\n`;
  const content = body ?? '';
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`;
};

const crowded = '{ "error": "Too many open connections" }';

/**
 * HTTP/1.1 as Cloud Hypervisor's server speaks it, byte for byte where clients notice: empty reason phrases, at most
 * ten connections, one request at a time over all of them, no chunked bodies, parse errors with a raw line feed in what
 * looks like JSON. Node's own server is too polite for that.
 */
export class WireServer {
  private readonly server: Server;
  private readonly connections = new Set<Socket>();
  private queue: Promise<void> = Promise.resolve();

  constructor(
    private readonly handle: (request: WireRequest) => Promise<WireReply>,
    private readonly options: ParserOptions & { stalled: () => boolean },
  ) {
    this.server = createServer((socket) => this.accept(socket));
  }

  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(path, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
  }

  /** Stops listening (which removes the socket file), sends what is still to be sent, and ends every connection. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    const reluctant = setTimeout(() => {
      for (const socket of this.connections) socket.destroy();
    }, flushMs);
    for (const socket of this.connections) socket.destroySoon();
    await closed;
    clearTimeout(reluctant);
  }

  /** Sends what is still to be sent, and no more: the socket file stays, as that of a process that dies. */
  async flush(): Promise<void> {
    const ended = [...this.connections].map((socket) => once(socket, 'close'));
    const reluctant = setTimeout(() => {
      for (const socket of this.connections) socket.destroy();
    }, flushMs);
    for (const socket of this.connections) socket.destroySoon();
    await Promise.all(ended);
    clearTimeout(reluctant);
  }

  private accept(socket: Socket): void {
    socket.on('error', () => undefined);
    if (this.connections.size >= mostConnections) {
      // Read on, or the other side's end would never be seen.
      socket.resume();
      socket.end(
        `HTTP/1.1 503\r\nServer: Firecracker API\r\nConnection: close\r\nContent-Length: ${crowded.length}\r\n\r\n${crowded}`,
      );
      return;
    }
    this.connections.add(socket);
    socket.once('close', () => this.connections.delete(socket));
    const parser = new RequestParser(this.options);
    socket.on('data', (chunk: Buffer) => {
      if (this.options.stalled()) return;
      const items = parser.push(chunk);
      // What cannot be parsed takes the requests down with it that came in the same read.
      const broken = items.some(({ kind }) => kind === 'error');
      for (const item of items) {
        if (broken && item.kind === 'request') continue;
        if (item.kind === 'continue')
          socket.write('HTTP/1.1 100 \r\nServer: Firecracker API\r\nConnection: keep-alive\r\n\r\n');
        else if (item.kind === 'request') this.enqueue(socket, () => this.handle(item.request));
        else
          this.enqueue(socket, async () => ({
            status: 400,
            foreign: true,
            body: `{ "error": "${item.text}\nAll previous unanswered requests will be dropped." }`,
          }));
      }
    });
  }

  private enqueue(socket: Socket, answer: () => Promise<WireReply>): void {
    this.queue = this.queue.then(async () => {
      const reply = await answer();
      if (!socket.destroyed) socket.write(render(reply));
    });
  }
}
