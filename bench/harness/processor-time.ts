import { readFileSync } from 'node:fs';

/** Of the kernel's process statistics, on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** The fields of a process's statistics from its state on; empty when it is gone. */
export const statOf = (pid: number): string[] => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
};

/** Processor time of a process in seconds; with that of its ended children if asked. */
export const cpuSecondsOf = (pid: number, withEnded = false): number => {
  const fields = statOf(pid).slice(11, withEnded ? 15 : 13);
  return fields.reduce((sum, field) => sum + Number(field), 0) / ticksPerSecond;
};
