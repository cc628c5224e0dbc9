import { open, readFile, stat, unlink } from 'node:fs/promises';

const staleMs = 60_000;
const pollMs = 50;

const ended = async (file: string): Promise<boolean> => {
  try {
    const [text, info] = await Promise.all([readFile(file, 'utf8'), stat(file)]);
    const pid = Number(text.trim());
    if (Date.now() - info.mtimeMs > staleMs) return true;
    if (!Number.isInteger(pid) || pid <= 0) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ESRCH';
  }
};

/**
 * Runs `work` while holding `<file>.lock`, which other processes of this user respect. A lock whose holder has ended,
 * or that is older than a minute, is taken over. Throws when it is not free within `timeoutMs`.
 */
export const withFileLock = async <T>(file: string, work: () => Promise<T>, timeoutMs = 45_000): Promise<T> => {
  const lock = `${file}.lock`;
  const end = Date.now() + timeoutMs;
  for (;;) {
    try {
      const handle = await open(lock, 'wx', 0o600);
      try {
        await handle.writeFile(`${process.pid}\n`);
      } catch (error) {
        // Without a pid in it nobody could tell that its holder has ended.
        await unlink(lock).catch(() => undefined);
        throw Object.assign(error as Error, { path: lock });
      } finally {
        await handle.close();
      }
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await ended(lock)) await unlink(lock).catch(() => undefined);
    else if (Date.now() > end) throw new Error(`${lock} is held by another vcctl; remove it if none runs`);
    else await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  try {
    return await work();
  } finally {
    await unlink(lock).catch(() => undefined);
  }
};
