import { WebSocket } from 'ws';
import type { ApiSession } from './api-session';
import { failureOf } from '../cli-failure';
import { tlsOptions } from './server-trust';

const maxAnswerBytes = 64 * 1024;

/** A WebSocket below `/api/v1`, open when it is returned. Throws `CliFailure` when the server refuses the handshake. */
export const openSocket = async (session: ApiSession, path: string): Promise<WebSocket> => {
  const base = session.profile.url.replace(/^http/, 'ws');
  const url = path.startsWith('/api/v1/') ? `${base}${path}` : `${base}/api/v1${path}`;
  const socket = new WebSocket(url, {
    ...tlsOptions(session.profile),
    headers: { authorization: `Bearer ${await session.bearer(15_000)}` },
    handshakeTimeout: 15_000,
    maxPayload: 16 * 1024 * 1024,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (request, response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text = (text + part).slice(0, maxAnswerBytes)));
      response.on('end', () => {
        request.destroy();
        reject(failureOf(response.statusCode ?? 0, parse(text)));
      });
      response.on('error', reject);
    });
  });
  return socket;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
