import type { ModuleManifest } from '../../core/app/module-manifest';
import { storageProblems } from './contract/storage.problems';

export const storageModule: ModuleManifest = {
  name: 'storage',
  needs: ['identity', 'host', 'image', 'scheduler'],
  permissions: {
    'volume:read': 'viewer',
    'volume:create': 'member',
    'volume:update': 'member',
    'volume:delete': 'member',
  },
  problems: storageProblems,
  events: ['volume.created', 'volume.updated', 'volume.deleted'],
  hostConditions: { Storage: 'required' },
  inventory: async () => (await import('./contract/pool.inventory.js')).storageInventory,
  config: async () => (await import('./contract/storage.config.js')).storageConfigSchema,
  entities: async () => (await import('./management/storage.entities.js')).storageEntities,
  management: async () => (await import('./management/storage.wiring.js')).storageWiring,
  verbs: async () => (await import('./contract/volume.verbs.js')).storageVerbs,
  node: async () => (await import('./node/storage-node.wiring.js')).storageNodeWiring,
  commands: async () => new (await import('./cli/volume.command.js')).VolumeCommands(),
  scenarios: async () => (await import('./testing/storage.scenarios.js')).storageScenarios,
};
