import { env } from 'node:process';
import { readFile } from 'node:fs/promises';
import { signalProcess, waitGone, type ProcessIdentity } from '../processes/process-identity';
import { launch } from './launcher';
import { sandboxed, type Sandbox } from './sandbox';
import { SandboxMissing } from './sandbox-missing';
import { blockFd, infoFd, statusFd } from './launcher-messages';

export interface SandboxedProcess {
  /** The program itself, first of its process namespace, by its id here. */
  process: ProcessIdentity;
  /** Resolves when it has ended. Only for the process that started it, and until `release`. */
  ended: Promise<string>;
  hasEnded: () => boolean;
  /**
   * Ends the helper that waits for the program: nothing of ours stays beside it. Where there is a `statusFile`, it stays
   * until it has written how the program ended; where there is none, only once the program is seen at work: the helper
   * lets it begin, and one that was ended before leaves it waiting for ever.
   */
  release: () => void;
}

export interface SpawnSandboxedOptions {
  /** Network namespace (`ip netns` name); null for our own. */
  netns: string | null;
  /** Standard output and error go there, truncated. It stays root's: the program only has the descriptor. */
  logFile: string;
  sandbox: Omit<Sandbox, 'network' | 'bound' | 'infoFd' | 'blockFd' | 'statusFd'>;
  /** A file that the program writes to by descriptor `eventFd`, truncated. */
  eventFile?: string;
  /** A device that the program has by descriptor `deviceFd`, opened by us: neither it nor a right to it is in the sandbox. */
  deviceFile?: string;
  /**
   * A file that says how the program ended, also when we are gone by then (`readExitStatus`). It costs a waiting process
   * of some 150 kB.
   */
  statusFile?: string;
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

/**
 * Starts a program in a sandbox and a session of its own, so that it outlives us, inside a network namespace if one is
 * given. Each program of the chain (ip, bubblewrap, setpriv) replaces itself by the next; the only fork is
 * bubblewrap's, whose parent ends at `release`. Throws `SandboxMissing`, also with what the chain printed when it
 * failed, and `LauncherGone`: then a program that was not known yet may have begun.
 */
export const spawnSandboxed = async (
  program: string,
  args: readonly string[],
  options: SpawnSandboxedOptions,
): Promise<SandboxedProcess> => {
  const { before, netns, logFile, eventFile, statusFile, deviceFile } = options;
  const inside = await sandboxed(program, args, {
    ...options.sandbox,
    network: 'inherit',
    bound: false,
    infoFd,
    ...(before && { blockFd }),
    ...(statusFile !== undefined && { statusFd }),
  });
  const [command = '', ...rest] = [...(netns === null ? [] : ['ip', 'netns', 'exec', netns]), inside[0], ...inside[1]];
  const chain = launch({
    command,
    args: rest,
    logFile,
    eventFile: eventFile ?? null,
    statusFile: statusFile ?? null,
    deviceFile: deviceFile ?? null,
    heldBack: before !== undefined,
    env: { PATH: env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
  });
  const timer = setTimeout(() => chain.end(), startDeadline);
  const started = await chain.program.finally(() => clearTimeout(timer));
  if (started === null) {
    const how = await chain.ended;
    throw new SandboxMissing((await readTail(logFile)) || how);
  }
  try {
    if (before) {
      await before(started);
      await chain.begin();
    }
  } catch (error) {
    signalProcess(started, 'SIGKILL');
    chain.end();
    await waitGone(started, killDeadline);
    throw error;
  }
  const release = (): void => (statusFile === undefined ? chain.end() : chain.letBe());
  return { process: started, ended: chain.ended, hasEnded: () => chain.hasEnded(), release };
};

/** The end of a text file, at most `bytes`; empty when there is none. */
export const readTail = async (path: string, bytes = 4096): Promise<string> => {
  const content = await readFile(path).catch(() => Buffer.alloc(0));
  return content
    .subarray(Math.max(0, content.length - bytes))
    .toString('utf8')
    .trim();
};
