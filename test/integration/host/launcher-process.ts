import { readdirSync, readFileSync } from 'node:fs';

export const parentOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
};

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
};

/**
 * Kills the launcher of this process, and those that tests before have left in it: the children that run its script.
 */
export const killLauncher = (): void => {
  const launchers = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => commandOf(pid).includes('launcher-child') && parentOf(pid) === process.pid);
  if (launchers.length === 0) throw new Error('there is no launcher');
  for (const pid of launchers) process.kill(pid, 'SIGKILL');
};
