import type { ModuleManifest } from '../core/app/module-manifest';
import { computeModule } from './compute/compute.module';
import { hostModule } from './host/host.module';
import { identityModule } from './identity/identity.module';
import { imageModule } from './image/image.module';
import { networkModule } from './network/network.module';
import { schedulerModule } from './scheduler/scheduler.module';
import { storageModule } from './storage/storage.module';
import { taskModule } from './task/task.module';

/** Every module of the product. The only list of them. */
export const allModules: readonly ModuleManifest[] = [
  identityModule,
  taskModule,
  hostModule,
  schedulerModule,
  imageModule,
  storageModule,
  networkModule,
  computeModule,
];
