import type { ModuleManifest } from '../../core/app/module-manifest';

export const taskModule: ModuleManifest = {
  name: 'task',
  needs: ['host'],
  management: async () => (await import('./management/task.wiring.js')).taskWiring,
};
