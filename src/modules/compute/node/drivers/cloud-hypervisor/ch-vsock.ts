import type { Socket } from 'node:net';
import { connectOwned } from '../../../../../core/host/files/owned-socket';
import { streamOpenMs } from '../../../../../core/m2m/management/node-route';
import type { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { vsockRefused, vsockSilent } from '../common/vsock-failures';
import { noVsock } from '../vmm-driver';

/**
 * Milliseconds that the VMM may take to say what became of it: a guest without a driver never says anything, and that is
 * to be told while whoever asked still listens.
 */
const deadlineMs = streamOpenMs - 2000;
/** Longest answer, in bytes: `OK ` and a port. */
const longestAnswer = 16;
const lineFeed = 0x0a;

/**
 * A stream to a port of the guest, by the VMM's socket at `path`, which must be that user's. The VMM is the other side for
 * its guest, so nothing of the host has an address there, and guests do not reach each other.
 */
export const dialVsock = async (
  path: string,
  user: number,
  port: number,
  timeoutMs: number = deadlineMs,
): Promise<Socket> => {
  const socket = await connectOwned(path, user).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? noVsock() : vsockSilent();
  });
  // Whoever takes it over hears of its end by its closing.
  socket.on('error', () => undefined);
  try {
    await accepted(socket, port, timeoutMs);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
};

/** Reads the VMM's answer and not a byte more: what follows is the guest's. */
const accepted = (socket: Socket, port: number, timeoutMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = '';
    const settle = (failure?: VerbFailure): void => {
      clearTimeout(timer);
      socket.off('readable', read);
      socket.off('close', closed);
      if (failure) reject(failure);
      else resolve();
    };
    const closed = (): void => settle(vsockRefused(port));
    const timer = setTimeout(() => settle(vsockSilent()), timeoutMs);
    const read = (): void => {
      for (;;) {
        const byte = socket.read(1) as Buffer | null;
        if (byte === null) return;
        if (byte[0] === lineFeed) return settle(/^OK \d+$/.test(said) ? undefined : vsockRefused(port));
        said += byte.toString('latin1');
        if (said.length > longestAnswer) return settle(vsockRefused(port));
      }
    };
    socket.on('readable', read);
    socket.once('close', closed);
    socket.write(`CONNECT ${port}\n`);
  });
