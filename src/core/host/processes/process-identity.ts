import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** A process that cannot be confused with a later one of the same pid. */
export interface ProcessIdentity {
  pid: number;
  /** Field 22 of /proc/<pid>/stat, in clock ticks since boot. */
  startTime: string;
}

/**
 * Start time of a live process in clock ticks since boot; null when there is none or it is a zombie that nobody has
 * reaped yet.
 */
export const processStartTime = (pid: number): string | null => {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The command name is in parentheses and may hold blanks and parentheses itself: the fields count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  return state === 'Z' || state === 'X' ? null : (fields[19] ?? null);
};

/** Of the clock ticks in which the kernel tells times of processes: the same on all architectures that we run on. */
const ticksPerSecond = 100;

/** When it was started, by the machine's clock. */
export const startedAt = ({ startTime }: ProcessIdentity): Date => {
  const uptimeSeconds = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  return new Date(Date.now() - (uptimeSeconds - Number(startTime) / ticksPerSecond) * 1000);
};

/** The id that a process has for itself: in its innermost process namespace. Null when it is gone. */
export const innerPid = (pid: number): number | null => {
  try {
    const inner = /^NSpid:.*?(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return inner === undefined ? pid : Number(inner);
  } catch {
    return null;
  }
};

/** True while this very process runs: pid and start time agree. */
export const isRunning = (process: ProcessIdentity): boolean => processStartTime(process.pid) === process.startTime;

/** Signals the process if it is still the same one. Returns whether the signal was sent. */
export const signalProcess = (target: ProcessIdentity, signal: NodeJS.Signals): boolean => {
  if (!isRunning(target)) return false;
  try {
    process.kill(target.pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
};

/** Waits until the process has ended. Returns false at the deadline (milliseconds) or when `signal` aborts. */
export const waitGone = async (process: ProcessIdentity, timeoutMs: number, signal?: AbortSignal): Promise<boolean> => {
  const end = Date.now() + timeoutMs;
  let pause = 5;
  while (isRunning(process)) {
    if (signal?.aborted || Date.now() >= end) return false;
    await delay(Math.min(pause, Math.max(1, end - Date.now())));
    pause = Math.min(pause * 2, 100);
  }
  return true;
};
