import type { ModuleManifest } from '../../core/app/module-manifest';
import { hostProblems } from './contract/host.problems';

export const hostModule: ModuleManifest = {
  name: 'host',
  needs: [],
  permissions: {
    'host:read': 'admin',
    'host:update': 'admin',
    'host:delete': 'admin',
    'host:enroll': 'admin',
    'host:place': 'admin',
  },
  problems: hostProblems,
  events: ['host.created', 'host.updated', 'host.deleted'],
  hostConditions: {
    Enrolled: 'decides',
    Heartbeat: 'decides',
    Maintenance: 'decides',
    Clock: 'warns',
    Agent: 'warns',
    Records: 'warns',
    Sections: 'warns',
    Cgroup: 'warns',
    Clean: 'warns',
  },
  config: async () => (await import('./contract/host.config.js')).hostConfigSchema.prefault({}),
  entities: async () => (await import('./management/host.entities.js')).hostEntities,
  management: async () => (await import('./management/host.wiring.js')).hostWiring,
  verbs: async () => (await import('./contract/host.verbs.js')).hostVerbs,
  node: async () => (await import('./node/host-node.wiring.js')).hostNodeWiring,
  commands: async ({ inventory }) => new (await import('./cli/host.command.js')).HostCommands(inventory),
  scenarios: async () => (await import('./testing/host.scenarios.js')).hostScenarios,
};
