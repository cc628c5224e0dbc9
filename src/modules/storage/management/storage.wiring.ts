import type { ManagementWiring } from '../../../core/app/module-manifest';
import { InventoryPart } from '../../host/contract/host.ports';
import { ProjectUsage } from '../../identity/contract/identity.ports';
import { ImageUsage } from '../../image/contract/image.ports';
import { Volumes } from '../contract/storage.ports';
import { PoolInventoryPart } from './pool-inventory.part';
import { VolumeController } from './volume.controller';
import { VolumeImageUsage } from './volume-image-usage';
import { VolumeProjectUsage } from './volume-project-usage';
import { VolumeRepository } from './volume.repository';
import { PostgresVolumes } from './postgres-volumes';

export const storageWiring: ManagementWiring = {
  bind: ({ bind }) => {
    for (const part of [VolumeRepository, PostgresVolumes, VolumeController])
      bind<object>(part).toSelf().inSingletonScope();
    bind(Volumes).toService(PostgresVolumes);
    bind(InventoryPart).to(PoolInventoryPart).inSingletonScope();
    bind(ImageUsage).to(VolumeImageUsage).inSingletonScope();
    bind(ProjectUsage).to(VolumeProjectUsage).inSingletonScope();
  },
  controllers: [VolumeController],
};
