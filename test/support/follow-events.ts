import { get as httpsGet } from 'node:https';
import type { LiveEventRecord } from '../../src/core/events/live-event-record';
import type { ApiClient } from './api-client';
import { EventReader } from './event-reader';

/** Follows events by SSE from here on, or after `since`. Resolves once the stream is live. */
export const followEvents = ({ url, token }: Pick<ApiClient, 'url' | 'token'>, since?: number): Promise<EventReader> =>
  new Promise((resolve, reject) => {
    const reader = new EventReader(() => req.destroy());
    const req = httpsGet(
      `${url}/api/v1/events`,
      {
        rejectUnauthorized: false,
        agent: false,
        headers: {
          authorization: `Bearer ${token}`,
          ...(since !== undefined && { 'last-event-id': String(since) }),
        },
      },
      (res) => {
        let text = '';
        res.on('error', () => undefined);
        res.on('close', () => (reader.open = false));
        res.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          for (let cut = text.indexOf('\n\n'); cut >= 0; cut = text.indexOf('\n\n')) {
            const lines = text.slice(0, cut).split('\n');
            text = text.slice(cut + 2);
            const data = lines.find((line) => line.startsWith('data: '))?.slice(6);
            if (lines.includes('event: ready')) resolve(reader);
            else if (data !== undefined && lines.some((line) => line.startsWith('id: ')))
              reader.events.push(JSON.parse(data) as LiveEventRecord);
          }
        });
      },
    );
    req.on('error', reject);
  });
