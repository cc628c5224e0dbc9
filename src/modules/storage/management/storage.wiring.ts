import type { ManagementWiring } from '../../../core/app/module-manifest';
import { HostUsage, InventoryPart, LeftoverClaims } from '../../host/contract/host.ports';
import { ProjectUsage } from '../../identity/contract/identity.ports';
import { ImageUsage } from '../../image/contract/image.ports';
import { DataVolumes, Volumes } from '../contract/storage.ports';
import { PoolInventoryPart } from './pool-inventory.part';
import { VolumeController } from './volume.controller';
import { VolumeEvents } from './volume.events';
import { VolumeHostUsage } from './volume-host-usage';
import { VolumeLeftoverClaims } from './volume-leftover-claims.repository';
import { VolumeImageUsage } from './volume-image-usage';
import { VolumeProjectUsage } from './volume-project-usage';
import { VolumeRepository } from './volume.repository';
import { PostgresDataVolumes } from './postgres-data-volumes';
import { PostgresVolumes } from './postgres-volumes';
import { VolumeReconciler } from './volume.reconciler';
import { VolumeService } from './volume.service';
import { VolumeTombstoneRepository } from './volume-tombstone.repository';
import { CreateVolumeWorkflow } from './workflows/create-volume.workflow';
import { DeleteVolumeWorkflow } from './workflows/delete-volume.workflow';

const workflows = [CreateVolumeWorkflow, DeleteVolumeWorkflow];
const parts = [
  VolumeRepository,
  VolumeTombstoneRepository,
  VolumeEvents,
  PostgresVolumes,
  VolumeService,
  VolumeController,
  VolumeReconciler,
];

export const storageWiring: ManagementWiring = {
  bind: ({ bind }) => {
    for (const part of [...parts, ...workflows]) bind<object>(part).toSelf().inSingletonScope();
    bind(Volumes).toService(PostgresVolumes);
    bind(DataVolumes).to(PostgresDataVolumes).inSingletonScope();
    bind(InventoryPart).to(PoolInventoryPart).inSingletonScope();
    bind(LeftoverClaims).to(VolumeLeftoverClaims).inSingletonScope();
    bind(ImageUsage).to(VolumeImageUsage).inSingletonScope();
    bind(HostUsage).to(VolumeHostUsage).inSingletonScope();
    bind(ProjectUsage).to(VolumeProjectUsage).inSingletonScope();
  },
  controllers: [VolumeController],
  workflows,
  periodic: [VolumeReconciler],
};
