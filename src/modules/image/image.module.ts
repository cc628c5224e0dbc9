import { imageMetrics } from './contract/image.metrics';
import type { ModuleManifest } from '../../core/app/module-manifest';
import { imageProblems } from './contract/image.problems';

export const imageModule: ModuleManifest = {
  name: 'image',
  needs: ['identity', 'host'],
  permissions: {
    'image:read': 'viewer',
    'image:create': 'member',
    'image:update': 'member',
    'image:delete': 'member',
  },
  problems: imageProblems,
  events: ['image.created', 'image.updated', 'image.deleted'],
  metrics: imageMetrics,
  config: async () => (await import('./contract/image.config.js')).imageConfigSchema,
  entities: async () => (await import('./management/image.entities.js')).imageEntities,
  management: async () => (await import('./management/image.wiring.js')).imageWiring,
  verbs: async () => (await import('./contract/image.verbs.js')).imageVerbs,
  node: async () => (await import('./node/image-node.wiring.js')).imageNodeWiring,
  commands: async () => new (await import('./cli/image.command.js')).ImageCommands(),
  scenarios: async () => (await import('./testing/image.scenarios.js')).imageScenarios,
};
