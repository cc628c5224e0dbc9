import type { ModuleManifest } from '../../core/app/module-manifest';
import { imageConfigSchema } from './contract/image.config';

export const imageModule: ModuleManifest = {
  name: 'image',
  needs: ['identity'],
  config: imageConfigSchema,
  entities: async () => (await import('./management/image.entities.js')).imageEntities,
  management: async () => (await import('./management/image.wiring.js')).imageWiring,
  node: async () => (await import('./node/image-node.wiring.js')).imageNodeWiring,
};
