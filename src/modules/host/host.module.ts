import type { ModuleManifest } from '../../core/app/module-manifest';
import { hostConfigSchema } from './contract/host.config';

export const hostModule: ModuleManifest = {
  name: 'host',
  needs: [],
  config: hostConfigSchema.prefault({}),
  entities: async () => (await import('./management/host.entities.js')).hostEntities,
  management: async () => (await import('./management/host.wiring.js')).hostWiring,
  node: async () => (await import('./node/host-node.wiring.js')).hostNodeWiring,
};
