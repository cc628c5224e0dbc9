import { join } from 'node:path';
import { removeCgroup } from '../../../../../core/host/processes/cgroup';
import { readExitStatus } from '../../../../../core/host/sandbox/exit-status';
import type { VmHandle } from '../vmm-driver';
import { statusFile } from './ended-by-itself';
import { unlinkAll } from './run-files';
import { socketFolder } from './vmm-files';

/** After the end of a VMM's process: who waited for it is gone too, and so are its sockets and its cgroup. */
export const cleanUp = async (handle: VmHandle, sockets: readonly string[]): Promise<void> => {
  // It writes just before it ends; until then it is in the instance's namespace.
  await readExitStatus(join(handle.runDir, statusFile));
  await unlinkAll(socketFolder(handle), sockets);
  await removeCgroup(handle.instanceId);
};
