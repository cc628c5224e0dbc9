import type { IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import { io, type Socket } from 'socket.io-client';
import type { LiveEventRecord } from '../../../src/core/events/live-event-record';
import { waitFor } from '../../support/wait-for';

interface Frame {
  event: string;
  id: string | undefined;
  data: LiveEventRecord & { code?: string };
}
/** Who reads Server-Sent Events. */
export interface Reader {
  status: number;
  frames: Frame[];
  events: () => number[];
  ended: Promise<void>;
  response: IncomingMessage;
  close: () => void;
}

/** Readers of live events, by both ways, of any of the servers. */
export class LiveClients {
  private readonly readers: Reader[] = [];
  private readonly clients: Socket[] = [];

  /** @param addresses of the servers, which may still be added to */
  constructor(
    private readonly ca: string,
    private readonly addresses: readonly string[],
  ) {}

  /** Reads the stream of Server-Sent Events. Resolves once it is ready, or refused. */
  read(
    token: string,
    query = '',
    headers: Record<string, string> = {},
    address = this.addresses[0] ?? '',
  ): Promise<Reader> {
    return new Promise((resolve, reject) => {
      const req = httpsGet(
        `${address}/api/v1/events${query}`,
        { ca: this.ca, agent: false, headers: { authorization: `Bearer ${token}`, ...headers } },
        (res) => {
          let text = '';
          const frames: Frame[] = [];
          const ended = new Promise<void>((done) => res.once('close', () => done()));
          const reader: Reader = {
            status: res.statusCode ?? 0,
            frames,
            events: () => frames.filter((f) => f.event === 'message').map((f) => Number(f.data.data?.['n'])),
            ended,
            response: res,
            close: () => req.destroy(),
          };
          res.on('error', () => undefined);
          res.on('data', (chunk: Buffer) => {
            text += chunk.toString();
            for (let cut = text.indexOf('\n\n'); cut >= 0; cut = text.indexOf('\n\n')) {
              const lines = text.slice(0, cut).split('\n');
              text = text.slice(cut + 2);
              const of = (name: string) => lines.find((l) => l.startsWith(`${name}: `))?.slice(name.length + 2);
              const data = of('data');
              if (data)
                frames.push({ event: of('event') ?? 'message', id: of('id'), data: JSON.parse(data) as Frame['data'] });
            }
          });
          this.readers.push(reader);
          if (reader.status !== 200) return resolve(reader);
          waitFor('the stream to be ready', () => frames.some((f) => f.event === 'ready')).then(
            () => resolve(reader),
            reject,
          );
        },
      );
      req.on('error', () => undefined);
    });
  }

  /** Connects by socket.io. */
  connect(
    token: string,
    address: string | undefined,
    since?: number,
  ): Promise<{ socket: Socket; got: LiveEventRecord[] }> {
    return new Promise((resolve, reject) => {
      const got: LiveEventRecord[] = [];
      const socket = io(address ?? '', {
        path: '/api/v1/live',
        auth: { token, ...(since !== undefined && { since }) },
        transports: ['websocket'],
        ca: this.ca,
        reconnection: false,
        forceNew: true,
      } as Parameters<typeof io>[1]);
      this.clients.push(socket);
      socket.on('event', (event: LiveEventRecord) => got.push(event));
      socket.on('connect', () => resolve({ socket, got }));
      socket.on('connect_error', reject);
    });
  }

  close(): void {
    for (const client of this.clients) client.disconnect();
    for (const reader of this.readers) reader.close();
  }
}
