import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** Bytes that may wait for a slow viewer. */
const maxBuffered = { cut: 4 * 1024 * 1024, wait: 1024 * 1024 } as const;

/**
 * Joins a viewer's socket to a stream of its host until either ends, or `signal` fires: then nothing more goes either
 * way, whatever is still buffered. What the viewer sends is read no faster than the host takes it.
 *
 * @param slow what becomes of a viewer who does not take what comes. `cut`: it ends, for it must not lose anything
 *   unseen. `wait`: the host waits, for it sends only what it was asked for; a viewer that is gone answers no ping.
 */
export const joinSocket = (
  socket: WebSocket,
  line: Duplex,
  signal: AbortSignal,
  slow: keyof typeof maxBuffered,
): void => {
  signal.addEventListener('abort', () => line.destroy(), { once: true });
  const limit = maxBuffered[slow];
  line.on('data', (chunk: Buffer) => {
    if (slow === 'cut' && socket.bufferedAmount > limit) return socket.terminate();
    socket.send(chunk, { binary: true }, () => {
      if (slow === 'wait' && socket.bufferedAmount <= limit) line.resume();
    });
    if (slow === 'wait' && socket.bufferedAmount > limit) line.pause();
  });
  line.on('close', () => socket.close(1000));
  line.on('error', () => socket.close(1011, 'the console was cut'));
  line.on('drain', () => socket.resume());
  // Control frames (text) of terminals are accepted and have nothing to act on: a serial line has no window size.
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary && !line.destroyed && !line.write(data)) socket.pause();
  });
  socket.on('close', () => line.destroy());
  socket.on('error', () => line.destroy());
};
