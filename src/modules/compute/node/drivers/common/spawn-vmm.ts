import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, open, readFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { processStartTime } from '../../../../../core/host/process-identity';
import { VerbFailure } from '../../../../../core/m2m/verb-handler';
import type { VmProcess } from '../vmm-driver';

/** Absolute path of a program on the PATH, or of the given absolute path; null when it is not there or not executable. */
export const findProgram = async (name: string): Promise<string | null> => {
  const candidates = isAbsolute(name) ? [name] : (process.env['PATH'] ?? '').split(delimiter).map((dir) => join(dir, name));
  for (const candidate of candidates) {
    const found = await access(candidate, constants.X_OK).then(() => true, () => false);
    if (found) return candidate;
  }
  return null;
};

export interface SpawnedVmm {
  process: VmProcess;
  /** Resolves when the child has ended. Only for the agent that started it. */
  ended: Promise<string>;
  hasEnded: () => boolean;
}

/**
 * Starts a VMM in a session of its own, so that it outlives the agent, inside a network namespace if one is given
 * (`ip netns exec` replaces itself, so the pid is the VMM's). Standard output and error go to `logFile`, truncated.
 */
export const spawnVmm = async (program: string, args: readonly string[], options: { netns: string | null; logFile: string }): Promise<SpawnedVmm> => {
  const log = await open(options.logFile, 'w', 0o600);
  try {
    const [command, argv] = options.netns === null ? [program, [...args]] : ['ip', ['netns', 'exec', options.netns, program, ...args]];
    const child = spawn(command, argv, { detached: true, stdio: ['ignore', log.fd, log.fd], cwd: '/', env: { PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } });
    let ended: string | null = null;
    const end = new Promise<string>((resolve) => {
      const finish = (text: string): void => {
        ended ??= text;
        resolve(ended);
      };
      child.once('error', (error) => finish(error.message));
      child.once('exit', (code, signal) => finish(signal ? `ended by ${signal}` : `exit ${code ?? '?'}`));
    });
    child.unref();
    const pid = child.pid;
    if (pid === undefined) throw new VerbFailure('vmm_start_failed', 'The VMM could not be started.', true, {}, { detail: `${command}: ${await end}` });
    const startTime = processStartTime(pid);
    if (startTime === null) throw new VerbFailure('vmm_start_failed', 'The VMM ended at once.', true, {}, { detail: `${program}: ${await end}: ${await readTail(options.logFile)}` });
    return { process: { pid, startTime }, ended: end, hasEnded: () => ended !== null };
  } finally {
    await log.close();
  }
};

/** The end of a text file, at most `bytes`; empty when there is none. */
export const readTail = async (path: string, bytes = 4096): Promise<string> => {
  const content = await readFile(path).catch(() => Buffer.alloc(0));
  return content.subarray(Math.max(0, content.length - bytes)).toString('utf8').trim();
};
