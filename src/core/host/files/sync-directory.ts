import { open } from 'node:fs/promises';

/** Brings a directory's entries to the disk: after a rename, the new name survives a loss of power only then. */
export const syncDirectory = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
