import type { ModuleManifest } from '../../core/app/module-manifest';
import { storageConfigSchema } from './contract/storage.config';

export const storageModule: ModuleManifest = {
  name: 'storage',
  needs: ['identity', 'host', 'image'],
  config: storageConfigSchema,
  entities: async () => (await import('./management/storage.entities.js')).storageEntities,
  management: async () => (await import('./management/storage.wiring.js')).storageWiring,
  node: async () => (await import('./node/storage-node.wiring.js')).storageNodeWiring,
};
