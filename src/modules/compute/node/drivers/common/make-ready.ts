import { makeCgroup, type PlaceInCgroup } from '../../../../../core/host/processes/cgroup';
import { together } from '../../../../../core/host/together';
import { ExitRecord } from './exit-record';
import { limitsOfMachine } from './machine-limits';
import { unlinkAll } from './run-files';
import { handOver, socketFolder } from './vmm-files';
import type { VmSpec } from '../vmm-driver';

/**
 * What is done while a VMM's sandbox is being made, and is done when the VMM begins: nothing of an earlier run is left,
 * its disks are its own, and there is a cgroup for it, in which it is to be placed before its first page.
 */
export const makeReady = async (spec: VmSpec, sockets: readonly string[]): Promise<PlaceInCgroup> => {
  new ExitRecord(spec.runDir).clear();
  const [place] = await together(
    makeCgroup(spec.instanceId, limitsOfMachine(spec, spec)),
    unlinkAll(socketFolder(spec), sockets),
    handOver(spec),
  );
  return place;
};
