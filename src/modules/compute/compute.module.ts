import type { ModuleManifest } from '../../core/app/module-manifest';
import { computeProblems } from './contract/compute.problems';

export const computeModule: ModuleManifest = {
  name: 'compute',
  needs: ['identity', 'host', 'scheduler', 'image', 'storage', 'network'],
  permissions: {
    'instance:read': 'viewer',
    'instance:create': 'member',
    'instance:update': 'member',
    'instance:delete': 'member',
    'instance:start': 'member',
    'instance:stop': 'member',
    'instance:reboot': 'member',
    'instance:console': 'member',
    'instance:guest-data': 'member',
    'flavor:read': 'everyone',
    'flavor:create': 'admin',
    'flavor:update': 'admin',
    'flavor:delete': 'admin',
    'ssh-key:read': 'viewer',
    'ssh-key:create': 'member',
    'ssh-key:update': 'member',
    'ssh-key:delete': 'member',
  },
  problems: computeProblems,
  hostConditions: { Vmm: 'required', VmmSound: 'warns' },
  config: async () => (await import('./contract/compute.config.js')).computeConfigSchema,
  entities: async () => (await import('./management/compute.entities.js')).computeEntities,
  management: async () => (await import('./management/compute.wiring.js')).computeWiring,
  node: async () => (await import('./node/compute-node.wiring.js')).computeNodeWiring,
  commands: async () => new (await import('./cli/compute.commands.js')).ComputeCommands(),
  scenarios: async () => (await import('./testing/compute.scenarios.js')).computeScenarios,
};
