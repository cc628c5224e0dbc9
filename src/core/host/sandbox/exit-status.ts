import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

/** How a process ended: by itself with a code, or by a signal. */
export type ExitStatus = { code: number; signal: null } | { code: null; signal: string };

/** Milliseconds that who waits for a program may take to write how it ended, once it has. */
const writeDeadline = 2000;

const line = z.object({ 'exit-code': z.number().int().min(0).max(255) });

/** Above this, as shells do: the number of a signal is added. */
const signalBase = 128;

const nameOf = (number: number): string | undefined =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0];

const statusOf = (code: number): ExitStatus => {
  const signal = code > signalBase ? nameOf(code - signalBase) : undefined;
  return signal === undefined ? { code, signal: null } : { code: null, signal };
};

/** Null while there is no such line. */
export const parseExitStatus = (text: string): ExitStatus | null => {
  for (const part of text.split('\n')) {
    try {
      const parsed = line.safeParse(JSON.parse(part));
      if (parsed.success) return statusOf(parsed.data['exit-code']);
    } catch {
      // The line is not written to its end.
    }
  }
  return null;
};

/**
 * How the program ended whose `statusFile` this is; asked once it has. A code above 128 that is 128 and a signal's
 * number counts as that signal. Null when nobody wrote it: there is no such file (a program of a build without), or who
 * waited for the program was ended before it.
 */
export const readExitStatus = async (path: string): Promise<ExitStatus | null> => {
  for (const end = Date.now() + writeDeadline; ; await delay(10)) {
    const text = await readFile(path, 'utf8').catch(() => null);
    if (text === null) return null;
    const status = parseExitStatus(text);
    if (status || Date.now() >= end) return status;
  }
};
