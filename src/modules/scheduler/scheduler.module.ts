import type { ModuleManifest } from '../../core/app/module-manifest';
import { schedulerProblems } from './contract/scheduler.problems';

export const schedulerModule: ModuleManifest = {
  name: 'scheduler',
  needs: ['host'],
  problems: schedulerProblems,
  management: async () => (await import('./management/scheduler.wiring.js')).schedulerWiring,
};
