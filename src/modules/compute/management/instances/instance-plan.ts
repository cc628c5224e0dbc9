import { v7 as timeOrderedUuid } from 'uuid';
import type { UsableImage } from '../../../image/contract/image.ports';
import type { FlavorEntity } from '../flavors/flavor.entity';
import { bootedBy } from '../../contract/machine-options';
import { hostnameFrom } from '../guest-data/hostname';
import { kernelOf } from './asked-of-host';
import type { InstanceEntity } from './instance.entity';
import { vendorDataOf } from '../guest-data/vendor-data';

/** What is decided of instances before any is recorded. */
export interface InstancePlan {
  projectId: string;
  createdBy: string;
  description: string;
  /** Base64, as the user gave it. */
  userData: string;
  configDrive: InstanceEntity['configDrive'];
  machine: InstanceEntity['machine'];
  shares: InstanceEntity['shares'];
  maxVcpus: number | null;
  maxMemoryBytes: number | null;
  stopGraceSeconds: number;
  restartPolicy: InstanceEntity['restartPolicy'];
  flavor: FlavorEntity;
  image: UsableImage;
  nics: InstanceEntity['nics'];
  sshKeys: string[];
  wantedHostId: string | null;
  wantedVmm: string | null;
  tags: string[];
  metadata: Record<string, string>;
  protected: boolean;
}

/** A new instance, about to be built; without a task yet. */
export const instanceOf = (name: string, { flavor, image, ...plan }: InstancePlan): InstanceEntity => {
  const id = timeOrderedUuid();
  return {
    ...plan,
    id,
    name,
    hostname: hostnameFrom(name, id),
    flavorId: flavor.id,
    flavorName: flavor.name,
    vcpus: flavor.vcpus,
    memoryBytes: flavor.memoryBytes,
    limits: flavor.limits,
    hardware: flavor.hardware,
    vendorData: vendorDataOf({ image: image.vendorData, flavor: flavor.vendorData }),
    diskBytes: Math.max(flavor.diskBytes, image.virtualBytes),
    imageId: image.id,
    imageName: image.name,
    architecture: image.architecture,
    firmware: bootedBy(image, plan),
    kernel: kernelOf(image),
    lock: null,
    hostId: null,
    dedicatedCpus: null,
    vmm: null,
    state: 'building',
    stateReason: '',
    power: 'on',
    generation: 1,
    taskId: null,
    observedState: null,
    observedAt: null,
    observedRevision: 0,
    startedAt: null,
    lastExit: null,
    guest: null,
    rescue: null,
    createdAt: new Date(),
  };
};
