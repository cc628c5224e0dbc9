import { closeSync, constants, fstatSync, openSync } from 'node:fs';
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
  // Sockets lie in the machine's memory, where a look takes less than the way through the thread pool.
  const entry = openSync(path, O_PATH | constants.O_NOFOLLOW);
  try {
    const found = fstatSync(entry);
    if (!found.isSocket() || found.uid !== user)
      throw Object.assign(new Error(`${path} is not a socket of user ${user}`), { code: 'EACCES' });
    return await new Promise<Socket>((resolve, reject) => {
      const socket = connect(`/proc/self/fd/${entry}`);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(socket);
      });
    });
  } finally {
    closeSync(entry);
  }
};
