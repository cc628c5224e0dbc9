import { spawn, type StdioOptions } from 'node:child_process';
import { env } from 'node:process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { json } from 'node:stream/consumers';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { processStartTime, signalProcess, waitGone, type ProcessIdentity } from '../processes/process-identity';
import { sandboxed, type Sandbox } from './sandbox';
import { SandboxMissing } from './sandbox-missing';

export interface SandboxedProcess {
  /** The program itself, first of its process namespace, by its id here. */
  process: ProcessIdentity;
  /** Resolves when it has ended. Only for the process that started it, and until `release`. */
  ended: Promise<string>;
  hasEnded: () => boolean;
  /** Ends the helper that waits for the program: nothing of ours stays beside it. */
  release: () => void;
}

export interface SpawnSandboxedOptions {
  /** Network namespace (`ip netns` name); null for our own. */
  netns: string | null;
  /** Standard output and error go there, truncated. It stays root's: the program only has the descriptor. */
  logFile: string;
  sandbox: Omit<Sandbox, 'network' | 'bound' | 'infoFd' | 'blockFd'>;
  /** A file that the program writes to by descriptor `eventFd`, truncated. */
  eventFile?: string;
  /**
   * Done while the sandbox is being made, with the process that will be the program: the program begins when this has
   * ended, and when it throws, never. What the program is given in its place (`writable`, `readOnly`) must be there
   * before.
   */
  before?: (process: ProcessIdentity) => Promise<void>;
}

/** Milliseconds until the chain has forked: it only makes namespaces. */
const startDeadline = 15_000;
/** Milliseconds until what was killed is gone. */
const killDeadline = 10_000;
const infoFd = 3;
const blockFd = 4;
/** Of what `eventFile` is opened as. */
export const eventFd = 5;
const infoSchema = z.object({ 'child-pid': z.number().int().positive() });

/** By number: output to the log, then `infoFd`, `blockFd` where it is held back, `eventFd` where there are events. */
const descriptors = (log: number, heldBack: boolean, events: number | null): StdioOptions => [
  'ignore',
  log,
  log,
  'pipe',
  ...(heldBack ? ['pipe' as const] : events === null ? [] : ['ignore' as const]),
  ...(events === null ? [] : [events]),
];

/**
 * Starts a program in a sandbox and a session of its own, so that it outlives us, inside a network namespace if one is
 * given. Each program of the chain (ip, bubblewrap, setpriv) replaces itself by the next; the only fork is
 * bubblewrap's, whose parent ends at `release`. Throws `SandboxMissing`, also with what the chain printed when it
 * failed.
 */
export const spawnSandboxed = async (
  program: string,
  args: readonly string[],
  options: SpawnSandboxedOptions,
): Promise<SandboxedProcess> => {
  const { before } = options;
  const opened: number[] = [];
  const fresh = (path: string): number => {
    const fd = openSync(path, 'w', 0o600);
    opened.push(fd);
    return fd;
  };
  try {
    const inside = await sandboxed(program, args, {
      ...options.sandbox,
      network: 'inherit',
      bound: false,
      infoFd,
      ...(before && { blockFd }),
    });
    const log = fresh(options.logFile);
    const events = options.eventFile === undefined ? null : fresh(options.eventFile);
    const [command = '', ...argv] = [
      ...(options.netns === null ? [] : ['ip', 'netns', 'exec', options.netns]),
      inside[0],
      ...inside[1],
    ];
    const child = spawn(command, argv, {
      detached: true,
      stdio: descriptors(log, before !== undefined, events),
      cwd: '/',
      env: { PATH: env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    });
    const gate = before ? (child.stdio[blockFd] as Writable) : null;
    // A chain that has failed reads nothing any more; its end says so.
    gate?.on('error', () => undefined);
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
    const timer = setTimeout(() => child.kill('SIGKILL'), startDeadline);
    const info = infoSchema.safeParse(await json(child.stdio[infoFd] as Readable).catch(() => null));
    clearTimeout(timer);
    const pid = info.data?.['child-pid'];
    const startTime = pid === undefined ? null : processStartTime(pid);
    if (pid === undefined || startTime === null) {
      const how = await end;
      throw new SandboxMissing((await readTail(options.logFile)) || how);
    }
    const process = { pid, startTime };
    const release = (): void => {
      child.kill('SIGKILL');
    };
    try {
      await before?.(process);
    } catch (error) {
      signalProcess(process, 'SIGKILL');
      child.ref();
      release();
      await end;
      await waitGone(process, killDeadline);
      throw error;
    }
    gate?.end('\n');
    return { process, ended: end, hasEnded: () => ended !== null, release };
  } finally {
    opened.forEach(closeSync);
  }
};

/** The end of a text file, at most `bytes`; empty when there is none. */
export const readTail = async (path: string, bytes = 4096): Promise<string> => {
  const content = await readFile(path).catch(() => Buffer.alloc(0));
  return content
    .subarray(Math.max(0, content.length - bytes))
    .toString('utf8')
    .trim();
};
