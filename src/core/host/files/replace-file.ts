import { closeSync, fdatasync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const datasync = promisify(fdatasync);

/** @param folder it is made (0700) when there is none */
const openFresh = (path: string, mode: number, folder: boolean): number => {
  try {
    return openSync(path, 'w', mode);
  } catch (error) {
    if (!folder || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, 'w', mode);
  }
};

/**
 * Writes a small file anew, so that a reader, or whoever comes after a crash, finds the old content or the new one
 * whole. On the disk when it resolves unless `durable` is false. One writer at a time per path: it writes `<path>.new`
 * and renames that.
 *
 * Only what waits for the disk goes through the thread pool: the rest is done in memory, in less time than the way
 * there takes.
 */
export const replaceFile = async (
  path: string,
  content: string,
  options: { mode?: number; durable?: boolean; folder?: boolean } = {},
): Promise<void> => {
  const fresh = `${path}.new`;
  const file = openFresh(fresh, options.mode ?? 0o600, options.folder === true);
  try {
    writeFileSync(file, content);
    if (options.durable !== false) await datasync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
};
