import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

const isProgram = (path: string): boolean => {
  try {
    // Most places of a PATH do not have it, and saying so by an error costs more than the look.
    if (!statSync(path, { throwIfNoEntry: false })) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * Absolute path of a program on the PATH, or of the given absolute path; null when it is not there or not executable.
 */
export const findProgram = (name: string): string | null => {
  const candidates = isAbsolute(name)
    ? [name]
    : (process.env['PATH'] ?? '').split(delimiter).map((dir) => join(dir, name));
  return candidates.find(isProgram) ?? null;
};
