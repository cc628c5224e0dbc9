import { request } from 'node:http';
import { connectOwned } from '../../../../../core/host/files/owned-socket';
import { ChError } from './ch-error';

interface ChReply {
  status: number;
  body: string;
}

/**
 * One request and its answer. Rejects with `ChError` of status 0 when there is none within `timeoutMs`, and when `signal`
 * fires: what was asked for goes on all the same.
 */
export type ChTransport = (
  method: 'GET' | 'PUT',
  endpoint: string,
  body: string | null,
  timeoutMs: number,
  signal?: AbortSignal,
) => Promise<ChReply>;

const largestReply = 8 * 1024 * 1024;

/**
 * HTTP over the Unix socket of that user's VMM. A connection of its own per request: the server keeps idle ones open
 * and counts them (ten at most). Always a length and never chunks, which it does not read; no body where none is meant,
 * for it refuses even `{}` there.
 */
export const unixTransport =
  (socketPath: string, user: number): ChTransport =>
  async (method, endpoint, body, timeoutMs, signal) => {
    const socket = await connectOwned(socketPath, user).catch((error: Error) => {
      throw new ChError(endpoint, 0, [error.message]);
    });
    return new Promise((resolve, reject) => {
      const lost = (reason: string): void => reject(new ChError(endpoint, 0, [reason]));
      const outgoing = request(
        {
          createConnection: () => socket,
          method,
          path: `/api/v1/${endpoint}`,
          headers:
            body === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          let size = 0;
          incoming.on('data', (chunk: Buffer) => {
            size += chunk.length;
            if (size > largestReply) outgoing.destroy(new Error('the answer is too long'));
            else chunks.push(chunk);
          });
          incoming.once('error', (error) => lost(error.message));
          incoming.once('end', () => {
            clearTimeout(timer);
            resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') });
          });
        },
      );
      const timer = setTimeout(() => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      const cut = (): void => void outgoing.destroy(new Error('it is not waited for any more'));
      if (signal?.aborted === true) cut();
      signal?.addEventListener('abort', cut, { once: true });
      outgoing.once('close', () => signal?.removeEventListener('abort', cut));
      outgoing.once('error', (error) => {
        clearTimeout(timer);
        lost(error.message);
      });
      outgoing.end(body ?? undefined);
    });
  };
