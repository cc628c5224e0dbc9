import type { Duplex } from 'node:stream';

/** How long a client that goes on sending is read from after its answer. Milliseconds. */
const lingerMs = 1_000;

/** What a request comes to that Node's parser refused with this error code, or that never came. */
export const unparsedStatus = (code: string | undefined): 400 | 408 | 431 => {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
};

/**
 * The last answer on a connection whose request could not be parsed. What the client still sends is read and dropped
 * for a moment: a connection that is closed with bytes unread is reset, and the answer is lost with it.
 */
export const lastAnswer = (socket: Duplex, answer: string): void => {
  socket.removeAllListeners('data');
  socket.on('data', () => undefined);
  socket.on('error', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.end(answer);
};
