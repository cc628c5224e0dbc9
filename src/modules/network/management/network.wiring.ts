import type { ManagementWiring } from '../../../core/app/module-manifest';
import { ProjectUsage } from '../../identity/contract/identity.ports';
import { InstancePorts } from '../contract/network.ports';
import { AddressRepository } from './address.repository';
import { StaleHostsReconciler } from './stale-hosts.reconciler';
import { GuestEgress } from './guest-egress';
import { GuestEgressAgreement } from './guest-egress-agreement';
import { GuestEgressSettingRepository } from './guest-egress-setting.repository';
import { HostGenerationRepository } from './host-generation.repository';
import { HostSync } from './host-sync.service';
import { NetworkController } from './network.controller';
import { NetworkEvents } from './network.events';
import { NetworkObservedSink } from './network-observed.sink';
import { NetworkProjectUsage } from './network-project-usage';
import { NetworkRepository } from './network.repository';
import { NetworkService } from './network.service';
import { PortRepository } from './port.repository';
import { PostgresInstancePorts } from './postgres-instance-ports';
import { SyncHostWorkflow } from './sync-host.workflow';

const parts = [
  NetworkRepository,
  PortRepository,
  AddressRepository,
  HostGenerationRepository,
  GuestEgress,
  GuestEgressAgreement,
  GuestEgressSettingRepository,
  NetworkEvents,
  NetworkService,
  HostSync,
  SyncHostWorkflow,
  NetworkController,
  NetworkObservedSink,
  StaleHostsReconciler,
];

export const networkWiring: ManagementWiring = {
  bind: ({ bind }) => {
    for (const part of parts) bind<object>(part).toSelf().inSingletonScope();
    bind(InstancePorts).to(PostgresInstancePorts).inSingletonScope();
    bind(ProjectUsage).to(NetworkProjectUsage).inSingletonScope();
  },
  controllers: [NetworkController],
  workflows: [SyncHostWorkflow],
  services: [StaleHostsReconciler],
  observed: [NetworkObservedSink],
};
