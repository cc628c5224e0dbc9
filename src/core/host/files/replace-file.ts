import { open, rename } from 'node:fs/promises';

/**
 * Writes a file anew, so that a reader, or whoever comes after a crash, finds the old content or the new one whole. On
 * the disk when it resolves unless `durable` is false. One writer at a time per path: it writes `<path>.new` and
 * renames that.
 */
export const replaceFile = async (
  path: string,
  content: string,
  options: { mode?: number; durable?: boolean } = {},
): Promise<void> => {
  const fresh = `${path}.new`;
  const file = await open(fresh, 'w', options.mode ?? 0o600);
  try {
    await file.writeFile(content);
    if (options.durable !== false) await file.datasync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
};
