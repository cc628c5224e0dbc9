import { realpathSync, statSync, type Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { exec, ExecError, type ExecOptions, type ExecResult } from '../processes/exec';
import { findProgram } from '../processes/find-program';
import { SandboxMissing } from './sandbox-missing';

/** What one child may be and see. Paths are absolute and keep their names inside. */
export interface Sandbox {
  /**
   * User and group id that it runs as; no account is needed. Ignored where we are not root ourselves: then it keeps
   * ours.
   */
  user: number;
  /** Its first group id. Default: the same number as `user`. */
  group?: number;
  /** Further group ids. */
  groups?: readonly number[];
  /** Files and folders besides the system's programs and libraries. Missing ones are an error. */
  readOnly?: readonly string[];
  writable?: readonly string[];
  /**
   * Device nodes besides the harmless ones; left out where the machine has none. The groups that may use them are
   * joined.
   */
  devices?: readonly string[];
  /** Capabilities that it keeps, as setpriv(1) names them (`net_raw`). Default none. */
  capabilities?: readonly string[];
  /**
   * It is started as root, with nothing but the right to become `user`, and does so itself: for programs whose files
   * root alone may be able to read. Ignored where we are not root ourselves.
   */
  becomesUserItself?: boolean;
  /** `inherit` keeps the network namespace that it is started in, `none` gives it an empty one. */
  network: 'inherit' | 'none';
  /** Ends with the process that started it. Not for what outlives the agent. */
  bound: boolean;
  /** Descriptor on which bubblewrap tells the child's process id. */
  infoFd?: number;
  /**
   * Descriptor that bubblewrap reads before it starts the program: until there is something, or its other end is
   * closed.
   */
  blockFd?: number;
  /** Descriptor on which bubblewrap tells how the program ended. */
  statusFd?: number;
}

/** In the place of the machine's: its programs and libraries, and what the loader looks up. */
const merged = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const lookedUp = ['/etc/ld.so.cache', '/etc/alternatives'];

/** All that any of the programs opens; every further one costs each start. */
const harmless = ['/dev/null', '/dev/random', '/dev/urandom'];

/** All folders above these, outermost first: bubblewrap makes those that it is not told of for root alone. */
const above = (paths: readonly string[]): string[] => {
  const found = new Set<string>();
  for (const path of paths)
    for (let at = dirname(path); at !== '/' && !at.startsWith('/usr'); at = dirname(at)) found.add(at);
  return [...found].sort();
};

let systemFound: Promise<string[]> | undefined;

/** Links of a merged /usr stay links; a machine without gets its folders. Found out once. */
const systemArguments = (): Promise<string[]> =>
  (systemFound ??= (async () => {
    const args = ['--ro-bind', '/usr', '/usr'];
    for (const path of merged) {
      const found = await lstat(path).catch(() => null);
      if (found?.isSymbolicLink()) args.push('--symlink', (await realpath(path)).slice(1), path);
      else if (found) args.push('--ro-bind', path, path);
    }
    return [...args, '--dir', '/etc', ...lookedUp.flatMap((path) => ['--ro-bind-try', path, path])];
  })());

/**
 * Of the machine's own files, which are in its memory: done at once, a look takes less than the way through the thread
 * pool.
 */
const look = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

/** Group ids that a user who is neither owner nor anyone special needs to read and write these devices. */
const groupsOf = (devices: readonly string[]): number[] =>
  devices.flatMap((path) => {
    const node = look(path);
    return node && (node.mode & 0o006) !== 0o006 && (node.mode & 0o060) === 0o060 ? [node.gid] : [];
  });

const elsewhere = (path: string): boolean => !path.startsWith('/usr/') && !merged.includes(path);

/**
 * Of a program that was put elsewhere than under /usr: its folder, and where that is the `bin` of a tree, what the tree
 * keeps for its programs.
 */
const belongingsOf = (program: string): string[] => {
  if (!program.startsWith('/')) return [];
  const folders = [program, look(program) ? realpathSync(program) : program]
    .map((path) => dirname(path))
    .filter(elsewhere);
  const trees = folders
    .filter((folder) => basename(folder) === 'bin')
    .flatMap((folder) => ['lib', 'lib64', 'libexec', 'share'].map((name) => join(dirname(folder), name)));
  return [...new Set([...folders, ...trees.filter((path) => look(path)?.isDirectory() === true)])];
};

const isRoot = (): boolean => process.getuid?.() === 0;

/** The user's change, its groups and the end of every way back: what setpriv(1) is told. */
const privileges = (sandbox: Sandbox): string[] => {
  if (!isRoot()) return ['setpriv', '--no-new-privs', '--'];
  if (sandbox.becomesUserItself === true)
    return [
      'setpriv',
      '--clear-groups',
      '--inh-caps=-all',
      '--ambient-caps=-all',
      '--bounding-set=-all,+setuid,+setgid',
      '--no-new-privs',
      '--',
    ];
  const groups = [...new Set([...(sandbox.groups ?? []), ...groupsOf(sandbox.devices ?? [])])];
  const kept = ['-all', ...(sandbox.capabilities ?? []).map((name) => `+${name}`)].join(',');
  return [
    ...[
      'setpriv',
      `--reuid=${sandbox.user}`,
      `--regid=${sandbox.group ?? sandbox.user}`,
      groups.length > 0 ? `--groups=${groups.join(',')}` : '--clear-groups',
    ],
    ...[`--inh-caps=${kept}`, `--ambient-caps=${kept}`, `--bounding-set=${kept}`, '--no-new-privs', '--'],
  ];
};

/**
 * The command that runs `program` inside: bubblewrap makes the namespaces and the file system, setpriv lets go of
 * everything, then it is the program. As root no user namespaces are needed. What is not bound is the first process of
 * its process namespace, so all of it ends when it ends. What is bound has bubblewrap there, for only a process of the
 * same user may be told of its parent's end by a signal; the kernel ends the rest. Throws `SandboxMissing`.
 */
export const sandboxed = async (
  program: string,
  args: readonly string[],
  sandbox: Sandbox,
): Promise<[string, string[]]> => {
  const bwrap = findProgram('bwrap');
  if (bwrap === null) throw new SandboxMissing();
  const system = await systemArguments();
  const readOnly = [...belongingsOf(program), ...(sandbox.readOnly ?? []).filter(elsewhere)];
  const writable = sandbox.writable ?? [];
  const devices = sandbox.devices ?? [];
  const bind = (how: string, paths: readonly string[]): string[] => paths.flatMap((path) => [how, path, path]);
  return [
    bwrap,
    [
      ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--new-session'],
      ...(isRoot() ? [] : ['--unshare-user']),
      ...(sandbox.network === 'none' ? ['--unshare-net'] : []),
      ...(sandbox.bound ? ['--die-with-parent'] : ['--as-pid-1']),
      ...(sandbox.infoFd === undefined ? [] : ['--info-fd', String(sandbox.infoFd)]),
      ...(sandbox.blockFd === undefined ? [] : ['--block-fd', String(sandbox.blockFd)]),
      ...(sandbox.statusFd === undefined ? [] : ['--json-status-fd', String(sandbox.statusFd)]),
      ...system,
      ...['--proc', '/proc'],
      ...above([...harmless, ...devices, ...readOnly, ...writable]).flatMap((path) => ['--dir', path]),
      ...bind('--dev-bind', harmless),
      ...bind('--dev-bind-try', devices),
      ...bind('--ro-bind', readOnly),
      ...bind('--bind', writable),
      ...['--remount-ro', '/', '--chdir', '/', '--'],
      ...privileges(sandbox),
      program,
      ...args,
    ],
  ];
};

/**
 * Whether what a child wrote to standard error is the word of those that should have shut it in: they speak before it
 * does.
 */
export const sandboxFailed = (stderr: string): boolean => /^(bwrap|setpriv): /.test(stderr);

/**
 * Runs a short-lived program inside, to its end. `before` are programs that take the rest as their arguments (prlimit,
 * nice). Throws `ExecError` as `exec` does, and `SandboxMissing` where none can be made.
 */
export const execSandboxed = async (
  before: readonly string[],
  program: string,
  args: readonly string[],
  sandbox: Omit<Sandbox, 'bound'>,
  options: ExecOptions,
): Promise<ExecResult> => {
  const [first = '', ...rest] = [...before, ...(await sandboxed(program, args, { ...sandbox, bound: true })).flat()];
  return exec(first, rest, options).catch((error: unknown) => {
    if (error instanceof ExecError && sandboxFailed(error.stderr))
      throw new SandboxMissing(error.stderr.trim().slice(0, 500), { cause: error });
    throw error;
  });
};
