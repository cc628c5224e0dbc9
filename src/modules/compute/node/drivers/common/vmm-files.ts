import { chownSync, mkdirSync } from 'node:fs';
import { chmod, chown } from 'node:fs/promises';
import { join } from 'node:path';
import { together } from '../../../../../core/host/together';
import type { VmDisk, VmHandle, VmSpec } from '../vmm-driver';

/** Short, for the sake of Unix sockets. */
const socketsName = 's';

/**
 * Where a VMM of that user makes its sockets: the only folder that it may write to. VMMs of builds that ran them as
 * root have theirs in the run folder itself.
 */
export const socketFolder = ({ runDir, user }: Pick<VmHandle, 'runDir' | 'user'>): string =>
  user === 0 ? runDir : join(runDir, socketsName);

/** Makes the folder of its sockets, in its run folder. */
export const makeSocketFolder = (spec: VmSpec): void => {
  const sockets = socketFolder(spec);
  mkdirSync(sockets, { recursive: true, mode: 0o700 });
  chownSync(sockets, spec.user, spec.user);
};

/**
 * Gives it its disks. They may be root's (just made) or another user's (of a volume that was attached elsewhere
 * before).
 */
export const handOver = async (spec: VmSpec): Promise<void> => {
  await together(...spec.disks.map((disk) => handOverDisk(disk, spec.user)));
};

/**
 * As `handOver`, of one disk. One that is to be read only is not the user's own, for whoever owns a file may let himself
 * write to it: its group, which nobody else is in, may read it.
 */
export const handOverDisk = async (disk: Pick<VmDisk, 'path' | 'readonly'>, user: number): Promise<void> => {
  const { path, readonly } = disk;
  await together(chown(path, readonly ? 0 : user, user), chmod(path, readonly ? 0o440 : 0o600));
};
