import type { ModuleManifest } from '../../core/app/module-manifest';
import { networkConfigSchema } from './contract/network.config';

export const networkModule: ModuleManifest = {
  name: 'network',
  needs: ['identity', 'host'],
  config: networkConfigSchema,
  entities: async () => (await import('./management/network.entities.js')).networkEntities,
  management: async () => (await import('./management/network.wiring.js')).networkWiring,
  node: async () => (await import('./node/network-node.wiring.js')).networkNodeWiring,
};
