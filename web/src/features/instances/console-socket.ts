import { api } from '../../lib/api';
import type { Attempt } from '../../lib/connection';
import { asApiError } from '../../lib/problem';
import type { ConsoleTicket } from '../../lib/types';

/**
 * Close codes that say no: the policy that forbids it (1008), and what the server keeps for itself (4401, 4403, 4404,
 * 4409).
 */
const refusals = new Set([1008, 4401, 4403, 4404, 4409]);

/** What the server's reasons for ending a channel mean here. */
const reasons: Record<string, string> = {
  unauthenticated: 'Your session has ended.',
  forbidden: 'You may not use this console any more.',
  gone: 'The instance was deleted.',
  unavailable: 'Whether you may use this console cannot be verified at the moment.',
};

const socketUrl = ({ path, ticket }: ConsoleTicket): string => {
  const target = new URL(path.startsWith('/api/') ? path : `/api/v1${path}`, window.location.href);
  target.protocol = target.protocol === 'http:' ? 'ws:' : 'wss:';
  if (!target.searchParams.has('ticket')) target.searchParams.set('ticket', ticket);
  return target.href;
};

/**
 * The socket of one try, with a ticket of its own. It ends with the try, and what ends it is told to it. Null when there
 * is none: then that was told.
 */
export const consoleSocket = async (
  instanceId: string,
  protocol: ConsoleTicket['protocol'],
  { signal, lost }: Attempt,
): Promise<WebSocket | null> => {
  let ticket: ConsoleTicket;
  try {
    ticket = await api.post('/instances/{ref}/actions/console', {
      path: { ref: instanceId },
      body: { protocol },
      signal,
    });
  } catch (error) {
    const { status, code, detail } = asApiError(error);
    lost({ why: detail, final: status === 401 || status === 403 || status === 404 || code === 'no_screen' });
    return null;
  }
  if (signal.aborted) return null;
  const socket = new WebSocket(socketUrl(ticket));
  socket.binaryType = 'arraybuffer';
  signal.addEventListener('abort', () => socket.close());
  socket.addEventListener('close', ({ code, reason }) =>
    lost({
      why: reason === '' ? 'The connection was closed.' : (reasons[reason] ?? reason),
      final: refusals.has(code),
    }),
  );
  return socket;
};
