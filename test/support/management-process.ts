import { io, type Socket } from 'socket.io-client';
import { Agent, request } from 'undici';
import type { LiveEventRecord } from '../../src/core/events/live-event-record';
import { ApiClient } from './api-client';
import { StackProcess } from './stack-process';
import { EventReader } from './event-reader';
import { followEvents } from './follow-events';

/** One of the management processes, and a client of it. */
export class ManagementProcess {
  readonly url: string;
  readonly api: ApiClient;

  constructor(
    readonly process: StackProcess,
    readonly port: number,
    readonly nodePort: number,
  ) {
    this.url = `https://127.0.0.1:${port}`;
    this.api = new ApiClient(this.url, true);
  }

  /** The sum of a counter over its labels. */
  async counter(name: string): Promise<number> {
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
    try {
      const text = await (await request(`${this.url}/metrics`, { dispatcher })).body.text();
      return text
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    } finally {
      await dispatcher.destroy();
    }
  }

  /** Follows events by SSE from here on, or after `since`. Resolves once the stream is live. */
  sse(since?: number): Promise<EventReader> {
    return followEvents(this.api, since);
  }

  /** The same by socket.io, as the console does. */
  socket(since?: number): Promise<EventReader> {
    return new Promise((resolve, reject) => {
      const options = {
        path: '/api/v1/live',
        auth: { token: this.api.token, ...(since !== undefined && { since }) },
        transports: ['websocket'],
        rejectUnauthorized: false,
        reconnection: false,
        forceNew: true,
      };
      const socket: Socket = io(this.url, options);
      const reader = new EventReader(() => socket.disconnect());
      socket.on('event', (event: LiveEventRecord) => reader.events.push(event));
      socket.on('ready', () => resolve(reader));
      socket.on('disconnect', () => (reader.open = false));
      socket.on('connect_error', reject);
    });
  }
}
