import type { NodeWiring } from '../../../core/app/module-manifest';
import { LeftoverSource } from '../../host/contract/host.ports';
import { GuestFiles, PortAttachments } from '../contract/network.ports';
import { AppliedPortAttachments } from './applied-port-attachments';
import { DocumentStore } from './document.store';
import { DnsmasqSupervisor } from './drivers/linux/dnsmasq.supervisor';
import { LinuxLeftovers } from './drivers/linux/linux-leftovers';
import { LinuxNetworkDriver } from './drivers/linux/linux-network.driver';
import { LinuxStateStore } from './drivers/linux/linux-state.store';
import { SimulatedNetworkDriver } from './drivers/simulated-network.driver';
import { DriveFiles } from './metadata/drive-files';
import { GuestViews } from './metadata/guest-views';
import { MetadataService } from './metadata/metadata.service';
import { NetworkAgent } from './network.agent';
import { NetworkLeftovers } from './network.leftovers';
import { NetworkObservedSource } from './network-observed.source';
import { NetworkService } from './network.service';
import { NetworkRemoval } from './network.removal';
import { UnderlayProbe } from './underlay-probe';
import { NetworkVerbHandlers } from './network.verb-handlers';

export const networkNodeWiring: NodeWiring = {
  bind: ({ bind }) => {
    for (const singleton of [
      DocumentStore,
      DnsmasqSupervisor,
      LinuxStateStore,
      LinuxLeftovers,
      LinuxNetworkDriver,
      SimulatedNetworkDriver,
      NetworkAgent,
      GuestViews,
      MetadataService,
      NetworkService,
      NetworkVerbHandlers,
      NetworkRemoval,
      NetworkObservedSource,
      UnderlayProbe,
    ]) {
      bind<object>(singleton).toSelf().inSingletonScope();
    }
    bind(LeftoverSource).to(NetworkLeftovers).inSingletonScope();
    bind(PortAttachments).to(AppliedPortAttachments).inSingletonScope();
    bind(GuestFiles).to(DriveFiles).inSingletonScope();
  },
  verbs: [NetworkVerbHandlers],
  observed: [NetworkObservedSource],
  periodic: [NetworkAgent],
  services: [NetworkService],
  removals: [NetworkRemoval],
};
