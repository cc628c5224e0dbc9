import type { ModuleManifest } from '../../core/app/module-manifest';

export const taskModule: ModuleManifest = {
  name: 'task',
  needs: ['host'],
  permissions: { 'task:read': 'viewer', 'task:cancel': 'member', 'task:operate': 'admin' },
  events: ['task.created', 'task.updated'],
  management: async () => (await import('./management/task.wiring.js')).taskWiring,
  commands: async () => new (await import('./cli/task.command.js')).TaskCommands(),
};
