import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileMark } from '../../../../core/host/files/file-mark';
import type { PoolFile } from './pool.driver';

/** The files of a folder that the pattern names; its first group is the volume's id. */
export const poolFiles = async (directory: string, pattern: RegExp): Promise<PoolFile[]> => {
  const files: PoolFile[] = [];
  for (const name of await readdir(directory)) {
    const volumeId = pattern.exec(name)?.[1];
    const path = join(directory, name);
    const file = volumeId === undefined ? null : await fileMark(path);
    if (volumeId !== undefined && file) files.push({ volumeId, name, path, ...file });
  }
  return files;
};
