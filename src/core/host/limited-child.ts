import { extname } from 'node:path';

/** What a child that reads the bytes of strangers may take. The kernel holds it to them. */
export interface ChildLimits {
  cpuSeconds: number;
  /** Size of the largest file that it may write, in bytes. */
  fileBytes: number;
  /** Address space, in bytes. Not for Node: it reserves far more than it uses. */
  addressBytes?: number;
  /** Memory of its own that it may write to, in bytes. Node asks for half a GiB before it has done anything, and uses little of it. */
  dataBytes?: number;
}

export interface LimitedCommand {
  program: string;
  args: string[];
}

/** Owner of nothing: what a child runs as that reads the bytes of strangers. */
export const nobody = { uid: 65_534, gid: 65_534 };

/** The niceness of such children: a tenth of the processor beside somebody who wants all of it, so that they get on at all. */
const niceness = '12';

const isRoot = (): boolean => process.getuid?.() === 0;

const ranked = (limits: ChildLimits): string[] => {
  const { cpuSeconds, fileBytes, addressBytes, dataBytes } = limits;
  const bounds = [`--cpu=${cpuSeconds}`, `--fsize=${fileBytes}`, '--core=0', '--nofile=64'];
  // Threads reserve address space for a stack each; with the default some sixteen of them would use a limit up.
  if (addressBytes !== undefined) bounds.push(`--as=${addressBytes}`, '--stack=1048576');
  if (dataBytes !== undefined) bounds.push(`--data=${dataBytes}`);
  return ['prlimit', ...bounds, '--', 'nice', '-n', niceness, 'ionice', '-t', '-c', '3'];
};

/**
 * A program with limits, at low priority, without capabilities and as nobody; it ends with the process that starts it. It gets at files by
 * descriptors that it inherits (`/proc/self/fd/N`) and that `nobody` may open.
 */
export const limitedCommand = (program: string, args: readonly string[], limits: ChildLimits): LimitedCommand => {
  const identity = isRoot() ? [`--reuid=${nobody.uid}`, `--regid=${nobody.gid}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all'] : [];
  return { program: 'setpriv', args: ['--no-new-privs', '--pdeathsig', 'KILL', ...identity, ...ranked(limits), program, ...args] };
};

/**
 * A script of ours that reads what strangers send, as a Node process of its own. It must call `becomeNobody` before the first byte of theirs,
 * for only root may be able to read the scripts; until then it holds nothing but the capability for that.
 * @param path of the script, without extension
 */
export const limitedScript = (path: string, limits: ChildLimits): LimitedCommand => {
  const identity = isRoot() ? ['--inh-caps=-all', '--bounding-set=-all,+setuid,+setgid'] : [];
  const inherited = process.execArgv.filter((arg) => !arg.startsWith('--inspect'));
  const node = [process.execPath, ...inherited, '--max-old-space-size=64', `${path}${extname(__filename)}`];
  return { program: 'setpriv', args: ['--no-new-privs', ...identity, ...ranked(limits), ...node] };
};

/** In a child that `limitedScript` started: from here on it is nobody. Throws when it is still somebody. */
export const becomeNobody = (): void => {
  if (!isRoot()) return;
  process.setgroups?.([]);
  process.setgid?.(nobody.gid);
  process.setuid?.(nobody.uid);
  if (isRoot()) throw new Error('the rights of root could not be given up');
};
