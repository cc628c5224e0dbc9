import type { NodeWiring } from '../../../core/app/module-manifest';
import {
  instanceAbsent,
  instanceConsoleLog,
  instanceEnsure,
  instanceGuestFiles,
  instanceReboot,
  instanceSeed,
} from '../contract/instance.verbs';
import { InventorySource } from '../../host/contract/host.ports';
import { MetadataProvider } from '../../network/contract/network.ports';
import { ConfigDrives } from './config-drive';
import { ConsoleHub } from './console.hub';
import { ConsoleStreams } from './console.streams';
import { VmmDrivers } from './drivers/vmm-drivers';
import { InstanceObservedSource } from './instance-observed.source';
import { InstanceStore } from './instance-store';
import { InstanceUsers } from './instance-users';
import { InstanceHandlers } from './instance.handlers';
import { InstanceRemoval } from './instance.removal';
import { InstanceManager } from './instance.manager';
import { SeedStore } from './seed.store';
import { VmmInventorySource } from './vmm-inventory.source';

export const computeNodeWiring: NodeWiring = {
  bind: ({ bind }) => {
    for (const part of [
      InstanceStore,
      InstanceUsers,
      VmmDrivers,
      ConsoleHub,
      InstanceManager,
      SeedStore,
      ConfigDrives,
      InstanceHandlers,
      InstanceRemoval,
      ConsoleStreams,
      InstanceObservedSource,
    ])
      bind<object>(part).toSelf().inSingletonScope();
    bind(MetadataProvider).toService(SeedStore);
    bind(InventorySource).to(VmmInventorySource).inSingletonScope();
  },
  contract: [instanceAbsent, instanceConsoleLog, instanceEnsure, instanceGuestFiles, instanceReboot, instanceSeed],
  verbs: [InstanceHandlers],
  streams: [ConsoleStreams],
  observed: [InstanceObservedSource],
  services: [InstanceManager],
  removals: [InstanceRemoval],
};
