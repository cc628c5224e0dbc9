import { constants, open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';

/** Linux's, which Node does not name: a handle on the directory entry itself, whatever it is. */
const O_PATH = 0x200000;

/**
 * Connects to a Unix socket in a folder that its owner may write to. Whoever may write there could put a link to
 * somebody else's socket in its place, and we would follow it as root: so the entry itself is opened, seen to be a
 * socket of that user, and that very inode is connected to. Rejects with the system's error, or `EACCES` for anything
 * but the user's own socket.
 */
export const connectOwned = async (path: string, user: number): Promise<Socket> => {
  const entry = await open(path, O_PATH | constants.O_NOFOLLOW);
  try {
    const found = await entry.stat();
    if (!found.isSocket() || found.uid !== user)
      throw Object.assign(new Error(`${path} is not a socket of user ${user}`), { code: 'EACCES' });
    return await new Promise<Socket>((resolve, reject) => {
      const socket = connect(`/proc/self/fd/${entry.fd}`);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(socket);
      });
    });
  } finally {
    // Not waited for: whoever listens to the socket does so before anything can happen on it. An error that nobody
    // listens to, as when its owner dies in this moment, would end the process.
    entry.close().catch(() => undefined);
  }
};
