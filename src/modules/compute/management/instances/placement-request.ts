import { neededRevision } from '../../../../core/m2m/verbs/revisions';
import type { PlacementRequest } from '../../../scheduler/contract/scheduler.ports';
import { instanceEnsure, instanceSeed } from '../../contract/instance.verbs';
import type { InstanceEntity } from './instance.entity';
import { configDriveOf, firmwareOf, vendorDataOf } from './asked-of-host';

/** What an instance needs of the host that it is placed on, with its root volume in the pool. */
export const placementRequest = (i: InstanceEntity, pool: string): PlacementRequest => ({
  instanceId: i.id,
  projectId: i.projectId,
  vcpus: i.vcpus,
  memoryBytes: i.memoryBytes,
  diskBytes: i.diskBytes,
  pool,
  architecture: i.architecture,
  firmware: i.firmware,
  vmm: i.wantedVmm,
  verbs: {
    [instanceEnsure.name]: neededRevision(instanceEnsure, {
      spec: { vmm: i.wantedVmm, ...firmwareOf(i), ...configDriveOf(i) },
    }),
    [instanceSeed.name]: neededRevision(instanceSeed, { ...vendorDataOf(i) }),
  },
  ...(i.wantedHostId !== null && { hostId: i.wantedHostId }),
});
