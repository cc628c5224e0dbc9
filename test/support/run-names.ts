import { existsSync } from 'node:fs';

/**
 * Part of the names of what a test makes on the machine (`t-<test>-<tag>-...`): the process that makes it, so that two
 * runs of one test, of two checkouts say, do not take each other's.
 */
export const runTag = (pid = process.pid): string => pid.toString(36);

/**
 * Whose names (`<prefix>-<tag>-...`) may be swept away: those of runs that were killed, and what this very process has
 * left. As process ids.
 */
export const sweepableRuns = (names: readonly string[], prefix: string): number[] => {
  const pids = names
    .filter((name) => name.startsWith(`${prefix}-`))
    .map((name) => /^([0-9a-z]+)-/.exec(name.slice(prefix.length + 1))?.[1] ?? '')
    .map((tag) => Number.parseInt(tag, 36))
    .filter((pid) => Number.isSafeInteger(pid) && (pid === process.pid || !existsSync(`/proc/${pid}`)));
  return [...new Set(pids)];
};
