import type { ManagementWiring } from '../../../core/app/module-manifest';
import { HostUsage, InventoryPart } from '../../host/contract/host.ports';
import { ProjectUsage } from '../../identity/contract/identity.ports';
import { ImageUsage } from '../../image/contract/image.ports';
import { NetworkUsage } from '../../network/contract/network.ports';
import { ComputeNetworkUsage } from './compute-network-usage';
import { ComputeHostUsage } from './compute-host-usage';
import { ComputeImageUsage } from './compute-image-usage';
import { ComputeProjectUsage } from './compute-project-usage';
import { ConsoleLogs } from './console-logs.service';
import { ConsoleService } from './console.service';
import { ConsoleSocket } from './console.socket';
import { FlavorController } from './flavor.controller';
import { FlavorRepository } from './flavor.repository';
import { FlavorService } from './flavor.service';
import { GuestDataService } from './guest-data.service';
import { InstanceObservedSink } from './instance-observed.sink';
import { InstanceRemainderRepository } from './instance-remainder.repository';
import { InstanceController } from './instance.controller';
import { InstanceEvents } from './instance.events';
import { InstancePresenter } from './instance.presenter';
import { InstanceReconciler } from './instance.reconciler';
import { InstanceRepository } from './instance.repository';
import { InstanceCreation } from './instance-creation.service';
import { InstanceService } from './instance.service';
import { VmmInventoryPart } from './vmm-inventory.part';
import { SshKeyController } from './ssh-key.controller';
import { SshKeyRepository } from './ssh-key.repository';
import { SshKeyService } from './ssh-key.service';
import { VmmKinds } from './vmm-kinds';
import { CreateInstanceWorkflow } from './workflows/create-instance.workflow';
import { CreateInstancesWorkflow } from './workflows/create-instances.workflow';
import { DeleteInstanceWorkflow } from './workflows/delete-instance.workflow';
import { InstanceSteps } from './workflows/instance-steps';
import { RebootInstanceWorkflow } from './workflows/reboot-instance.workflow';
import { StartInstanceWorkflow } from './workflows/start-instance.workflow';
import { StopInstanceWorkflow } from './workflows/stop-instance.workflow';

const workflows = [
  CreateInstanceWorkflow,
  CreateInstancesWorkflow,
  DeleteInstanceWorkflow,
  StartInstanceWorkflow,
  StopInstanceWorkflow,
  RebootInstanceWorkflow,
];
const controllers = [FlavorController, SshKeyController, InstanceController];
const parts = [
  FlavorRepository,
  FlavorService,
  VmmKinds,
  SshKeyRepository,
  SshKeyService,
  InstanceRepository,
  InstanceRemainderRepository,
  InstanceEvents,
  InstancePresenter,
  InstanceCreation,
  InstanceService,
  GuestDataService,
  InstanceSteps,
  ConsoleService,
  ConsoleLogs,
];

export const computeWiring: ManagementWiring = {
  bind: ({ bind }) => {
    for (const part of [
      ...parts,
      ...controllers,
      ...workflows,
      ConsoleSocket,
      InstanceObservedSink,
      InstanceReconciler,
    ])
      bind<object>(part).toSelf().inSingletonScope();
    bind(ProjectUsage).to(ComputeProjectUsage).inSingletonScope();
    bind(ImageUsage).to(ComputeImageUsage).inSingletonScope();
    bind(InventoryPart).to(VmmInventoryPart).inSingletonScope();
    bind(HostUsage).to(ComputeHostUsage).inSingletonScope();
    bind(NetworkUsage).to(ComputeNetworkUsage).inSingletonScope();
  },
  controllers,
  workflows,
  sockets: [ConsoleSocket],
  observed: [InstanceObservedSink],
  services: [InstanceReconciler],
};
