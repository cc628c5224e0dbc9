import { readdir, readFile, stat } from 'node:fs/promises';
import { exec } from '../../../../../core/host/processes/exec';

/** Where iproute2 keeps named namespaces; one folder for the whole machine. */
const netnsDir = '/run/netns';
export const netnsPath = (name: string): string => `${netnsDir}/${name}`;

/**
 * Runs a program inside a named network namespace (null: the agent's own). Only the network changes, not the mounts.
 */
export const execIn = async (
  netns: string | null,
  program: string,
  args: readonly string[],
  input?: string,
): Promise<string> => {
  const options = input === undefined ? {} : { input };
  const { stdout } =
    netns === null
      ? await exec(program, args, options)
      : await exec('nsenter', [`--net=${netnsPath(netns)}`, '--', program, ...args], options);
  return stdout;
};

/** `ip -batch` in a namespace; stops at the first line that fails. */
export const ipBatch = async (netns: string | null, lines: readonly string[]): Promise<void> => {
  if (lines.length === 0) return;
  await exec('ip', [...(netns === null ? [] : ['-n', netns]), '-batch', '-'], { input: `${lines.join('\n')}\n` });
};

/**
 * Names with this prefix, and which of them are dead: files without a namespace behind, left by a crash or by another
 * mount namespace.
 */
export const listNetns = async (prefix: string): Promise<{ live: Set<string>; dead: Set<string> }> => {
  const entries = await readdir(netnsDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const live = new Set<string>();
  const dead = new Set<string>();
  const own = await stat(netnsDir).catch(() => null);
  for (const name of entries.filter((e) => e.startsWith(prefix))) {
    const device = (await stat(netnsPath(name)).catch(() => null))?.dev;
    // A live name is a mount of the kernel's nsfs; a dead one is a plain file of the folder's own file system.
    (device !== undefined && device !== own?.dev ? live : dead).add(name);
  }
  return { live, dead };
};

/** Identifies the namespace behind a name: it changes when the name is made anew. Null when there is none. */
export const netnsInode = async (name: string): Promise<number | null> =>
  (await stat(netnsPath(name)).catch(() => null))?.ino ?? null;

/**
 * True when namespaces made here die with this process tree: `/run/netns` is a private copy of the machine's, as `ip
 * netns exec` and some unit options make it. Names made in it are not seen outside of it and are gone after a restart.
 */
export const namesArePrivate = async (): Promise<boolean> => {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  const mount =
    mounts.find((line) => line.split(' ')[4] === netnsDir) ??
    mounts.find((line) => line.split(' ')[4] === '/run') ??
    mounts.find((line) => line.split(' ')[4] === '/');
  return / master:\d+/.test(mount?.split(' - ')[0] ?? '');
};
