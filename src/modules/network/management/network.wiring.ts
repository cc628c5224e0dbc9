import type { ManagementWiring } from '../../../core/app/module-manifest';
import { ProjectUsage } from '../../identity/contract/identity.ports';
import { InstancePorts } from '../contract/network.ports';
import { AddressRepository } from './ports/address.repository';
import { StaleHostsReconciler } from './reconcilers/stale-hosts.reconciler';
import { GuestEgress } from './hosts/guest-egress';
import { GuestEgressAgreement } from './hosts/guest-egress-agreement';
import { GuestEgressSettingRepository } from './hosts/guest-egress-setting.repository';
import { HostGenerationRepository } from './hosts/host-generation.repository';
import { HostSync } from './hosts/host-sync.service';
import { NetworkController } from './networks/network.controller';
import { NetworkEvents } from './networks/network.events';
import { NetworkObservedSink } from './observers/network-observed.sink';
import { NetworkProjectUsage } from './networks/network-project-usage';
import { NetworkRepository } from './networks/network.repository';
import { NetworkService } from './networks/network.service';
import { OverlayRepository } from './overlay/overlay.repository';
import { OverlaySync } from './overlay/overlay-sync.service';
import { UnderlayRepository } from './overlay/underlay.repository';
import { PortRepository } from './ports/port.repository';
import { PostgresInstancePorts } from './ports/postgres-instance-ports';
import { RouterRepository } from './routers/router.repository';
import { SecurityGroupController } from './security-groups/security-group.controller';
import { securityGroupParts } from './security-groups/security-group.parts';
import { SubnetRepository } from './subnets/subnet.repository';
import { RouterController } from './routers/router.controller';
import { RouterService } from './routers/router.service';
import { SubnetController } from './subnets/subnet.controller';
import { SubnetService } from './subnets/subnet.service';
import { SyncHostWorkflow } from './workflows/sync-host.workflow';

const parts = [
  NetworkRepository,
  SubnetRepository,
  RouterRepository,
  PortRepository,
  AddressRepository,
  HostGenerationRepository,
  GuestEgress,
  GuestEgressAgreement,
  GuestEgressSettingRepository,
  NetworkEvents,
  NetworkService,
  SubnetService,
  RouterService,
  SubnetController,
  RouterController,
  HostSync,
  SyncHostWorkflow,
  NetworkController,
  NetworkObservedSink,
  StaleHostsReconciler,
  UnderlayRepository,
  OverlayRepository,
  OverlaySync,
  ...securityGroupParts,
];

export const networkWiring: ManagementWiring = {
  bind: ({ bind }) => {
    for (const part of parts) bind<object>(part).toSelf().inSingletonScope();
    bind(InstancePorts).to(PostgresInstancePorts).inSingletonScope();
    bind(ProjectUsage).to(NetworkProjectUsage).inSingletonScope();
  },
  controllers: [NetworkController, SubnetController, RouterController, SecurityGroupController],
  workflows: [SyncHostWorkflow],
  services: [GuestEgressAgreement, OverlaySync],
  periodic: [GuestEgressAgreement, StaleHostsReconciler, OverlaySync],
  observed: [NetworkObservedSink],
};
