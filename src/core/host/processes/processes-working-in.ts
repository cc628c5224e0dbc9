import { readdir, readlink, realpath } from 'node:fs/promises';
import { processStartTime, signalProcess, waitGone, type ProcessIdentity } from './process-identity';

/**
 * Ends all processes whose working directory this is, and waits until they are gone. Throws when one does not end
 * within 10 s.
 */
export const endProcessesWorkingIn = async (directory: string): Promise<void> => {
  const real = await realpath(directory);
  const found: ProcessIdentity[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || (await readlink(`/proc/${name}/cwd`).catch(() => '')) !== real) continue;
    const startTime = processStartTime(Number(name));
    if (startTime !== null) found.push({ pid: Number(name), startTime });
  }
  for (const one of found) signalProcess(one, 'SIGKILL');
  for (const one of found) if (!(await waitGone(one, 10_000))) throw new Error(`process ${one.pid} does not end`);
};
