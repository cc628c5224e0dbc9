import type { ModuleManifest } from '../../core/app/module-manifest';

export const schedulerModule: ModuleManifest = {
  name: 'scheduler',
  needs: ['host'],
  management: async () => (await import('./management/scheduler.wiring.js')).schedulerWiring,
};
