import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** Absolute path of a program on the PATH, or of the given absolute path; null when it is not there or not executable. */
export const findProgram = async (name: string): Promise<string | null> => {
  const candidates = isAbsolute(name) ? [name] : (process.env['PATH'] ?? '').split(delimiter).map((dir) => join(dir, name));
  for (const candidate of candidates) {
    const found = await access(candidate, constants.X_OK).then(() => true, () => false);
    if (found) return candidate;
  }
  return null;
};
