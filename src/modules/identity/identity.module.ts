import type { ModuleManifest } from '../../core/app/module-manifest';
import { identityConfigSchema } from './contract/identity.config';

export const identityModule: ModuleManifest = {
  name: 'identity',
  needs: [],
  config: identityConfigSchema,
  entities: async () => (await import('./management/identity.entities.js')).identityEntities,
  management: async () => (await import('./management/identity.wiring.js')).identityWiring,
};
