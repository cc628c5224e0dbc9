import type { ModuleManifest } from '../../core/app/module-manifest';
import { computeConfigSchema } from './contract/compute.config';

export const computeModule: ModuleManifest = {
  name: 'compute',
  needs: ['identity', 'host', 'scheduler', 'image', 'storage', 'network', 'task'],
  config: computeConfigSchema,
  entities: async () => (await import('./management/compute.entities.js')).computeEntities,
  management: async () => (await import('./management/compute.wiring.js')).computeWiring,
  node: async () => (await import('./node/compute-node.wiring.js')).computeNodeWiring,
};
