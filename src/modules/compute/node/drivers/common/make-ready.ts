import type { Logger } from 'pino';
import { placeInCgroup } from '../../../../../core/host/processes/cgroup';
import type { ProcessIdentity } from '../../../../../core/host/processes/process-identity';
import { together } from '../../../../../core/host/together';
import { ExitRecord } from './exit-record';
import { unlinkAll } from './run-files';
import { handOver, socketFolder } from './vmm-files';
import type { VmSpec } from '../vmm-driver';

/**
 * What is done while a VMM's sandbox is being made, and is done when the VMM begins: nothing of an earlier run is left,
 * its disks are its own, and its process is in its cgroup, so that not even its first page is outside of the limits.
 */
export const makeReady = async (
  spec: VmSpec,
  process: ProcessIdentity,
  sockets: readonly string[],
  log: Logger,
): Promise<void> => {
  await together(unlinkAll(socketFolder(spec), sockets), new ExitRecord(spec.runDir).clear(), handOver(spec));
  const placement = await placeInCgroup(spec.instanceId, process.pid, {
    memoryBytes: spec.memoryBytes,
    vcpus: spec.vcpus,
  });
  if (!placement.enforced)
    log.debug({ instanceId: spec.instanceId, reason: placement.reason }, 'limits are not enforced');
};
