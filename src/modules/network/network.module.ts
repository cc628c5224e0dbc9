import type { ModuleManifest } from '../../core/app/module-manifest';
import { networkProblems } from './contract/network.problems';

export const networkModule: ModuleManifest = {
  name: 'network',
  needs: ['identity', 'host'],
  permissions: {
    'network:read': 'viewer',
    'network:create': 'member',
    'network:update': 'member',
    'network:delete': 'member',
    'port:read': 'viewer',
  },
  problems: networkProblems,
  events: ['network.created', 'network.updated', 'network.deleted'],
  hostConditions: { GuestEgress: 'warns', NetworkOverlay: 'warns' },
  config: async () => (await import('./contract/network.config.js')).networkConfigSchema,
  entities: async () => (await import('./management/network.entities.js')).networkEntities,
  management: async () => (await import('./management/network.wiring.js')).networkWiring,
  verbs: async () => (await import('./contract/network.verbs.js')).networkVerbs,
  node: async () => (await import('./node/network-node.wiring.js')).networkNodeWiring,
  commands: async () => new (await import('./cli/network.commands.js')).NetworkingCommands(),
  scenarios: async () => (await import('./testing/network.scenarios.js')).networkScenarios,
};
