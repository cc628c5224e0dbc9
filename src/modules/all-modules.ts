import type { ModuleManifest } from '../core/app/module-manifest';
import { computeModule } from './compute/compute.module';
import { hostModule } from './host/host.module';
import { identityModule } from './identity/identity.module';
import { imageModule } from './image/image.module';
import { networkModule } from './network/network.module';
import { schedulerModule } from './scheduler/scheduler.module';
import { storageModule } from './storage/storage.module';
import { taskModule } from './task/task.module';

/**
 * Every module of the product. The only list of them. From what others stand on to what users ask for first: the help
 * of the client shows them the other way round.
 */
export const allModules: readonly ModuleManifest[] = [
  identityModule,
  taskModule,
  hostModule,
  schedulerModule,
  storageModule,
  networkModule,
  imageModule,
  computeModule,
];
