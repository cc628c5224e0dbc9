import { extname } from 'node:path';
import { codeOf } from './own-code';
import { sandboxed } from '../sandbox/sandbox';

/** What a child that reads the bytes of strangers may take. The kernel holds it to them. */
export interface ChildLimits {
  cpuSeconds: number;
  /** Size of the largest file that it may write, in bytes. */
  fileBytes: number;
  /**
   * Memory of its own that it may write to, in bytes. Node asks for half a GiB before it has done anything, and uses
   * little of it.
   */
  dataBytes: number;
}

/** What such a child is and sees besides the code of ours that it runs. */
export interface ChildSandbox {
  /** User and group id that it becomes. */
  user: number;
  /** `inherit` keeps our network, `none` gives it an empty one. */
  network: 'inherit' | 'none';
  /** Absolute paths; missing ones are an error. */
  readOnly?: readonly string[];
}

/**
 * The niceness of such children: a tenth of the processor beside somebody who wants all of it, so that they get on at
 * all.
 */
const niceness = '12';

const isRoot = (): boolean => process.getuid?.() === 0;

/**
 * The command that runs a script of ours which reads what strangers send: a Node process of its own, with limits and at
 * low priority, in a sandbox with our code and nothing else. It ends with the process that starts it, and gets at files
 * by descriptors that it inherits. It must call `giveUpRoot` before the first byte of theirs, for only root may be able
 * to read the code; until then it holds nothing but the capability for that. Throws `SandboxMissing`.
 * @param path of the script, without extension
 */
export const limitedScript = async (
  path: string,
  limits: ChildLimits,
  { user, network, readOnly = [] }: ChildSandbox,
): Promise<[string, string[]]> => {
  const { cpuSeconds, fileBytes, dataBytes } = limits;
  const inherited = process.execArgv.filter((arg) => !arg.startsWith('--inspect'));
  const args = [...inherited, '--max-old-space-size=64', `${path}${extname(__filename)}`, String(user)];
  const sandbox = {
    user,
    becomesUserItself: true,
    network,
    bound: true,
    readOnly: [...codeOf(path, inherited), ...readOnly],
  };
  const bounds = [`--cpu=${cpuSeconds}`, `--fsize=${fileBytes}`, '--core=0', '--nofile=64', `--data=${dataBytes}`];
  return [
    'prlimit',
    [
      ...bounds,
      '--',
      'nice',
      '-n',
      niceness,
      'ionice',
      '-t',
      '-c',
      '3',
      ...(await sandboxed(process.execPath, args, sandbox)).flat(),
    ],
  ];
};

/** In a child that `limitedScript` started: from here on it is its sandbox's user. Throws when it is still root. */
export const giveUpRoot = (): void => {
  if (!isRoot()) return;
  const user = Number(process.argv[2]);
  process.setgroups?.([]);
  process.setgid?.(user);
  process.setuid?.(user);
  if (isRoot()) throw new Error('the rights of root could not be given up');
};
