import type { NodeWiring } from '../../../core/app/module-manifest';
import { InventorySource, LeftoverSource } from '../../host/contract/host.ports';
import { MetadataProvider } from '../../network/contract/network.ports';
import { VolumeUse } from '../../storage/contract/storage.ports';
import { ConfigDrives } from './seeds/config-drive';
import { ConsoleHub } from './consoles/console.hub';
import { ConsoleStreams } from './consoles/console.streams';
import { InstanceScreens } from './consoles/instance-screens';
import { CoreDumpCalls } from './core-dumps/core-dump-calls';
import { CoreDumpStore } from './core-dumps/core-dump-store';
import { CoreDumpStreams } from './core-dumps/core-dump.streams';
import { InstanceCoreDumps } from './core-dumps/instance-core-dumps';
import { InstanceVsocks } from './vsock/instance-vsocks';
import { VsockStreams } from './vsock/vsock.streams';
import { VmmDrivers } from './drivers/vmm-drivers';
import { InstanceCpus } from './instances/instance-cpus';
import { InstanceObservedSource } from './instances/instance-observed.source';
import { InstanceRecords } from './instances/instance-records';
import { InstanceBalloons } from './instances/instance-balloons';
import { InstanceSizes } from './instances/instance-sizes';
import { InstanceSuspension } from './instances/instance-suspension';
import { KeptMemory } from './instances/kept-memory';
import { InstanceStore } from './instances/instance-store';
import { InstanceUsers } from './instances/instance-users';
import { InstanceHandlers } from './instances/instance.handlers';
import { InstanceRemoval } from './instances/instance.removal';
import { InstanceDevices } from './instances/instance-devices';
import { InstanceMachines } from './instances/instance-machines';
import { InstanceRestarts } from './instances/instance-restarts';
import { InstanceManager } from './instances/instance.manager';
import { StartsAfterBoot } from './instances/starts-after-boot';
import { VmSpecs } from './instances/vm-specs';
import { SeedStore } from './seeds/seed.store';
import { InstanceLeftovers } from './leftovers/instance-leftovers';
import { InstanceVolumeUse } from './leftovers/instance-volume-use';
import { HostShares } from './shares/host-shares';
import { LostCompanions } from './instances/lost-companions';
import { ShareInventorySource } from './shares/share-inventory.source';
import { VmmInventorySource } from './vmm-inventory.source';

export const computeNodeWiring: NodeWiring = {
  bind: ({ bind }) => {
    for (const part of [
      InstanceStore,
      InstanceUsers,
      InstanceCpus,
      InstanceRecords,
      VmmDrivers,
      ConsoleHub,
      InstanceScreens,
      HostShares,
      VmSpecs,
      KeptMemory,
      InstanceMachines,
      InstanceRestarts,
      StartsAfterBoot,
      InstanceSuspension,
      InstanceSizes,
      CoreDumpStore,
      InstanceCoreDumps,
      InstanceBalloons,
      InstanceVsocks,
      VsockStreams,
      InstanceManager,
      CoreDumpCalls,
      CoreDumpStreams,
      InstanceDevices,
      LostCompanions,
      SeedStore,
      ConfigDrives,
      InstanceHandlers,
      InstanceRemoval,
      ConsoleStreams,
      InstanceObservedSource,
    ])
      bind<object>(part).toSelf().inSingletonScope();
    bind(MetadataProvider).toService(SeedStore);
    bind(LeftoverSource).to(InstanceLeftovers).inSingletonScope();
    bind(VolumeUse).to(InstanceVolumeUse).inSingletonScope();
    bind(InventorySource).to(VmmInventorySource).inSingletonScope();
    bind(InventorySource).to(ShareInventorySource).inSingletonScope();
  },
  verbs: [InstanceHandlers],
  streams: [VsockStreams, ConsoleStreams, CoreDumpStreams],
  observed: [InstanceObservedSource],
  services: [InstanceManager],
  periodic: [InstanceDevices, InstanceSizes, LostCompanions],
  removals: [InstanceRemoval],
};
