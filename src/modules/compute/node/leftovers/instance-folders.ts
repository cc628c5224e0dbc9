import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileMark } from '../../../../core/host/files/file-mark';

/** What people call the files of an instance. */
const nouns: readonly [RegExp, string][] = [
  [/^instance\.json/, 'record'],
  [/^seed\.json/, 'seed'],
  [/^password$/, 'password'],
  [/^config-drive\.iso/, 'config drive'],
  [/^suspended$/, 'kept memory'],
  [/^core-dumps$/, 'core dumps'],
  [/^s$/, 'sockets'],
];

/** Files that a folder may have for its size to be told, in it and one below. */
const mostFiles = 100;
const mostNamed = 20;

export interface FolderContent {
  holds: string[];
  /** Null when there are too many files to count. */
  bytes: number | null;
}

/** What is in a folder of an instance. */
export const contentOf = async (directory: string): Promise<FolderContent> => {
  const names = await readdir(directory).catch(() => []);
  const holds = names.map((name) => nouns.find(([pattern]) => pattern.test(name))?.[1] ?? name.slice(0, 100));
  const paths = names.map((name) => join(directory, name));
  for (const path of [...paths])
    if (paths.length <= mostFiles) paths.push(...(await readdir(path).catch(() => [])).map((name) => join(path, name)));
  return {
    holds: [...new Set(holds)].sort().slice(0, mostNamed),
    bytes: paths.length > mostFiles ? null : await sum(paths),
  };
};

const sum = async (paths: readonly string[]): Promise<number> => {
  const marks = await Promise.all(paths.map((path) => fileMark(path)));
  return marks.reduce((bytes, mark) => bytes + (mark?.bytes ?? 0), 0);
};

/** With everything in it; links are removed and not followed. */
export const removeFolder = (directory: string): Promise<void> => rm(directory, { recursive: true, force: true });
