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
    'subnet:read': 'viewer',
    'subnet:create': 'member',
    'subnet:update': 'member',
    'subnet:delete': 'member',
    'router:read': 'viewer',
    'router:create': 'member',
    'router:update': 'member',
    'router:delete': 'member',
    'port:read': 'viewer',
    'port:update': 'member',
    'security-group:read': 'viewer',
    'security-group:create': 'member',
    'security-group:update': 'member',
    'security-group:delete': 'member',
  },
  problems: networkProblems,
  events: (['network', 'subnet', 'router', 'security-group'] as const).flatMap((kind) =>
    (['created', 'updated', 'deleted'] as const).map((what) => `${kind}.${what}` as const),
  ),
  hostConditions: { GuestEgress: 'warns', NetworkOverlay: 'warns' },
  config: async () => (await import('./contract/network.config.js')).networkConfigSchema,
  entities: async () => (await import('./management/network.entities.js')).networkEntities,
  management: async () => (await import('./management/network.wiring.js')).networkWiring,
  verbs: async () => (await import('./contract/network.verbs.js')).networkVerbs,
  node: async () => (await import('./node/network-node.wiring.js')).networkNodeWiring,
  commands: async () => new (await import('./cli/network.commands.js')).NetworkingCommands(),
  scenarios: async () => (await import('./testing/network.scenarios.js')).networkScenarios,
};
