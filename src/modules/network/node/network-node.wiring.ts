import type { NodeWiring } from '../../../core/app/module-manifest';
import { networkApply } from '../contract/network.verbs';
import { PortAttachments } from '../contract/network.ports';
import { AppliedPortAttachments } from './applied-port-attachments';
import { DocumentStore } from './document.store';
import { DnsmasqSupervisor } from './drivers/linux/dnsmasq.supervisor';
import { LinuxNetworkDriver } from './drivers/linux/linux-network.driver';
import { LinuxStateStore } from './drivers/linux/linux-state.store';
import { SimulatedNetworkDriver } from './drivers/simulated-network.driver';
import { MetadataService } from './metadata/metadata.service';
import { NetworkAgent } from './network.agent';
import { NetworkObservedSource } from './network-observed.source';
import { NetworkService } from './network.service';
import { NetworkRemoval } from './network.removal';
import { NetworkVerbHandlers } from './network.verb-handlers';

export const networkNodeWiring: NodeWiring = {
  bind: ({ bind }) => {
    for (const singleton of [DocumentStore, DnsmasqSupervisor, LinuxStateStore, LinuxNetworkDriver, SimulatedNetworkDriver, NetworkAgent, MetadataService, NetworkService, NetworkVerbHandlers, NetworkRemoval, NetworkObservedSource]) {
      bind<object>(singleton).toSelf().inSingletonScope();
    }
    bind(PortAttachments).to(AppliedPortAttachments).inSingletonScope();
  },
  contract: [networkApply],
  verbs: [NetworkVerbHandlers],
  observed: [NetworkObservedSource],
  services: [NetworkService],
  removals: [NetworkRemoval],
};
