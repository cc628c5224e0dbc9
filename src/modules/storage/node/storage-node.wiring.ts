import type { NodeWiring } from '../../../core/app/module-manifest';
import { InventorySource } from '../../host/contract/host.ports';
import { VolumePaths } from '../contract/storage.ports';
import { PoolInventorySource } from './pool-inventory.source';
import { PoolVolumePaths } from './pool-volume-paths';
import { Pools } from './pools';
import { VolumeHandlers } from './volume.handlers';

export const storageNodeWiring: NodeWiring = {
  bind: ({ bind }) => {
    bind(Pools).toSelf().inSingletonScope();
    bind(VolumeHandlers).toSelf().inSingletonScope();
    bind(VolumePaths).to(PoolVolumePaths).inSingletonScope();
    bind(InventorySource).to(PoolInventorySource).inSingletonScope();
  },
  verbs: [VolumeHandlers],
  services: [Pools],
};
