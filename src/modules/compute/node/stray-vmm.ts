import { readdir, readFile } from 'node:fs/promises';
import { processStartTime, signalProcess, waitGone, type ProcessIdentity } from '../../../core/host/process-identity';

/**
 * VMM processes of an instance that nobody has on record: the agent died between starting one and writing it down.
 * Found by the instance's own run folder in their arguments, which no other process names.
 */
export const findStrayVmms = async (runDirectory: string): Promise<ProcessIdentity[]> => {
  const found: ProcessIdentity[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const cmdline = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (!cmdline.includes(`${runDirectory}/`)) continue;
    const startTime = processStartTime(Number(name));
    if (startTime !== null) found.push({ pid: Number(name), startTime });
  }
  return found;
};

/** Ends them and waits until they are gone. Throws when one does not end within 10 s. */
export const endStrayVmms = async (runDirectory: string): Promise<number> => {
  const strays = await findStrayVmms(runDirectory);
  for (const stray of strays) {
    signalProcess(stray, 'SIGKILL');
    if (!(await waitGone(stray, 10_000))) throw new Error(`process ${stray.pid} does not end`);
  }
  return strays.length;
};
