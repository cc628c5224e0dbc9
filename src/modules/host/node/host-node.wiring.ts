import type { NodeWiring } from '../../../core/app/module-manifest';
import { HostInventorySource } from './inventory.source';

export const hostNodeWiring: NodeWiring = {
  bind: ({ bind }) => {
    bind(HostInventorySource).toSelf().inSingletonScope();
  },
  observed: [HostInventorySource],
};
