import { neededRevision } from '../../../../core/m2m/verbs/revisions';
import { poolNeed, poolStore } from '../../../storage/contract/pool-needs';
import type { PlacementRequest } from '../../../scheduler/contract/scheduler.ports';
import { hardwareOf, dedicatedCpusOf } from '../../contract/hardware';
import { limitsOf } from '../../contract/limits';
import { instanceEnsure, instanceSeed } from '../../contract/instance.verbs';
import { shareNeeds } from '../shares/share-needs';
import { vmmNeeds } from '../vmms/vmm-needs';
import { roomOf } from './claimed-room';
import type { InstanceEntity } from './instance.entity';
import {
  bootKernelOf,
  configDriveOf,
  firmwareOf,
  machineOf,
  maxOf,
  metadataOf,
  restartPolicyOf,
  sharesOf,
  vendorDataOf,
} from './asked-of-host';

/** What an instance needs of the host that it is placed on, with its root volume in the pool. */
export const placementRequest = (i: InstanceEntity, pool: string): PlacementRequest => {
  const cpus = dedicatedCpusOf(i);
  return {
    instanceId: i.id,
    projectId: i.projectId,
    ...roomOf(i),
    ...(cpus && { cpus }),
    store: poolStore(pool),
    architecture: i.architecture,
    needs: [
      ...vmmNeeds({
        vmm: i.wantedVmm,
        firmware: i.firmware,
        machine: i.machine,
        kernel: i.kernel !== null,
        limits: i.limits,
        hardware: i.hardware,
        shares: i.shares,
      }),
      ...shareNeeds(i.projectId, i.shares),
      poolNeed(pool),
    ],
    verbs: {
      [instanceEnsure.name]: neededRevision(instanceEnsure, {
        spec: {
          vmm: i.wantedVmm,
          ...firmwareOf(i),
          ...configDriveOf(i),
          ...restartPolicyOf(i),
          ...machineOf(i),
          ...bootKernelOf(i),
          ...maxOf(i),
          ...limitsOf(i),
          ...hardwareOf(i),
          ...sharesOf(i),
          // Which ones they are is known once they are claimed.
          ...(cpus && { dedicatedCpus: [{ node: 0, cpus: cpus.count, memoryBytes: 0 }] }),
        },
      }),
      [instanceSeed.name]: neededRevision(instanceSeed, { ...vendorDataOf(i), ...metadataOf(i) }),
    },
    ...(i.wantedHostId !== null && { hostId: i.wantedHostId }),
  };
};
