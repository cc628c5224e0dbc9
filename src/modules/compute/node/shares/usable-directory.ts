import { constants } from 'node:fs';
import { normalize } from 'node:path';
import { exec, ExecError } from '../../../../core/host/processes/exec';

/** Whether one of these lies in the other, or is it. */
const within = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? folder : `${folder}/`);
const meet = (a: string, b: string): boolean => within(a, b) || within(b, a);

/** What is the kernel's or the system's, whoever may own a part of it. */
const systems = ['/proc', '/sys', '/dev'];

/** Where no share may be, and who may own none. */
export interface NotToBeShared {
  /** The product's own folders, which hold keys and other instances' disks. */
  folders: readonly string[];
  /** User ids that instances run as. */
  users: { first: number; last: number };
}

/** Milliseconds. */
const patience = 5000;

/**
 * What a program says of the path, without the end of the line; in words why it says nothing. A program, for what lies behind
 * the path may be a network's that does not answer: it can be ended, and a thread of ours cannot.
 */
const saying = async (program: string, args: readonly string[]): Promise<{ said: string } | string> =>
  exec(program, args, { timeoutMs: patience }).then(
    ({ stdout }) => ({ said: stdout.replace(/\n$/, '') }),
    (error: unknown) => {
      if (!(error instanceof ExecError)) throw error;
      return error.signal === null ? 'it is not there' : `it does not answer within ${patience / 1000} s`;
    },
  );

/**
 * Who a directory belongs to that may be shared; in words why it may not. Symbolic links count wherever they are in its
 * path: whoever may change one could change what is shared.
 */
export const usableDirectory = async (
  path: string,
  { folders, users }: NotToBeShared,
): Promise<{ user: number; group: number } | string> => {
  if (normalize(path) !== path || (path.endsWith('/') && path !== '/')) return 'its path is not in its shortest form';
  if ([...folders, ...systems].some((folder) => meet(path, folder))) return 'it is, or holds, what is not to be shared';
  const real = await saying('realpath', ['-e', '--', path]);
  if (typeof real === 'string') return real;
  if (real.said !== path) return 'there is a symbolic link in its path';
  const found = await saying('stat', ['--format=%u %g %f', '--', path]);
  if (typeof found === 'string') return found;
  const [, user, group, mode = '0'] = /^(\d+) (\d+) ([0-9a-f]+)$/.exec(found.said) ?? [];
  return (Number.parseInt(mode, 16) & constants.S_IFMT) === constants.S_IFDIR
    ? ownerOf(Number(user), Number(group), users)
    : 'it is no directory';
};

const ownerOf = (
  user: number,
  group: number,
  { first, last }: NotToBeShared['users'],
): { user: number; group: number } | string => {
  if (user === 0) return 'it belongs to root: give it to the user by whose rights guests shall read and write';
  if (group === 0) return 'its group is that of root: give it another one';
  return user >= first && user <= last ? 'it belongs to a user of the product itself' : { user, group };
};
