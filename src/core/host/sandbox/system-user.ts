import { readFile } from 'node:fs/promises';
import { exec, ExecError } from '../processes/exec';

export interface SystemUser {
  uid: number;
  gid: number;
}

const lockFile = '/run/vc-stack-users.lock';
const lockWaitSeconds = 30;
/** useradd(8): the name is in use already. */
const nameInUse = 9;

/**
 * The local system user of that name, with a group of its own; made when missing. Safe when several processes ask at
 * once: useradd looks for the name before it locks /etc/passwd, so two of them would both add it, under different ids,
 * and the later one would stay.
 */
export const ensureSystemUser = async (name: string): Promise<SystemUser> => {
  const known = await find(name);
  if (known) return known;
  const useradd = [
    'useradd',
    '--system',
    '--no-create-home',
    '--home-dir',
    '/nonexistent',
    '--shell',
    '/usr/sbin/nologin',
    '--user-group',
    name,
  ];
  await exec('flock', ['--timeout', String(lockWaitSeconds), lockFile, ...useradd], {
    timeoutMs: (lockWaitSeconds + 15) * 1000,
  }).catch((error: unknown) => {
    if (!(error instanceof ExecError && error.exitCode === nameInUse)) throw error;
  });
  const made = await find(name);
  if (!made) throw new Error(`the user ${name} could not be made`);
  return made;
};

const find = async (name: string): Promise<SystemUser | undefined> => {
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((l) => l.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
};
