import { readdir, readFile } from 'node:fs/promises';
import { processStartTime, signalProcess, waitGone, type ProcessIdentity } from './process-identity';

export interface NamingProcess extends ProcessIdentity {
  /** Its command line, arguments divided by NUL. */
  commandLine: string;
}

/**
 * Processes that name something inside this folder in their arguments, as only those do that were started for it: what
 * nobody has on record because its starter died between the start and the record.
 */
export const processesNaming = async (directory: string): Promise<NamingProcess[]> => {
  const found: NamingProcess[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const commandLine = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (!commandLine.includes(`${directory}/`)) continue;
    const startTime = processStartTime(Number(name));
    if (startTime !== null) found.push({ pid: Number(name), startTime, commandLine });
  }
  return found;
};

/** Ends them and waits until they are gone. Throws when one does not end within 10 s. */
export const endProcessesNaming = async (directory: string): Promise<number> => {
  const strays = await processesNaming(directory);
  for (const stray of strays) {
    signalProcess(stray, 'SIGKILL');
    if (!(await waitGone(stray, 10_000))) throw new Error(`process ${stray.pid} does not end`);
  }
  return strays.length;
};
