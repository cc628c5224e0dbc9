import { lstat } from 'node:fs/promises';

export interface FileMark {
  /** Other than this when something else lies there, or when it was written since. */
  mark: string;
  modifiedAt: Date;
  /** What it takes on disk itself, without what is inside. */
  bytes: number;
}

/** What is at the path now; null when nothing is. A link is the link itself. */
export const fileMark = async (path: string): Promise<FileMark | null> => {
  const found = await lstat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  return (
    found && {
      mark: `${found.dev}:${found.ino}:${found.mtimeNs}`,
      modifiedAt: found.mtime,
      bytes: Number(found.blocks) * 512,
    }
  );
};
