import type { NodeWiring } from '../../../core/app/module-manifest';
import { InventorySource, LeftoverSource } from '../../host/contract/host.ports';
import { VolumePaths } from '../contract/storage.ports';
import { PoolInventorySource } from './pool-inventory.source';
import { PoolVolumePaths } from './pool-volume-paths';
import { Pools } from './pools';
import { VolumeLeftovers } from './volume-leftovers';
import { VolumeHandlers } from './volume.handlers';

export const storageNodeWiring: NodeWiring = {
  bind: ({ bind }) => {
    bind(Pools).toSelf().inSingletonScope();
    bind(VolumeHandlers).toSelf().inSingletonScope();
    bind(VolumePaths).to(PoolVolumePaths).inSingletonScope();
    bind(LeftoverSource).to(VolumeLeftovers).inSingletonScope();
    bind(InventorySource).to(PoolInventorySource).inSingletonScope();
  },
  verbs: [VolumeHandlers],
  services: [Pools],
};
