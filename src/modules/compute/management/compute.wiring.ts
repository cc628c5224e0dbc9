import type { ManagementWiring } from '../../../core/app/module-manifest';
import { HostUsage, InventoryPart, LeftoverClaims } from '../../host/contract/host.ports';
import { ProjectUsage } from '../../identity/contract/identity.ports';
import { ImageUsage } from '../../image/contract/image.ports';
import { NetworkUsage } from '../../network/contract/network.ports';
import { InstanceHosts } from '../../storage/contract/storage.ports';
import { ComputeNetworkUsage } from './usage/compute-network-usage';
import { InstanceLeftoverClaims } from './usage/instance-leftover-claims.repository';
import { ComputeHostUsage } from './usage/compute-host-usage';
import { ComputeImageUsage } from './usage/compute-image-usage';
import { ComputeProjectUsage } from './usage/compute-project-usage';
import { ConsoleLogs } from './consoles/console-logs.service';
import { ConsoleController } from './consoles/console.controller';
import { Screenshots } from './consoles/screenshots.service';
import { ConsoleService } from './consoles/console.service';
import { ConsoleSocket } from './consoles/console.socket';
import { CoreDumpController } from './core-dumps/core-dump.controller';
import { CoreDumpDownloads } from './core-dumps/core-dump-downloads.service';
import { CoreDumps } from './core-dumps/core-dumps.service';
import { FlavorController } from './flavors/flavor.controller';
import { FlavorRepository } from './flavors/flavor.repository';
import { FlavorService } from './flavors/flavor.service';
import { GuestDataService } from './guest-data/guest-data.service';
import { InstanceObservedSink } from './observers/instance-observed.sink';
import { InstanceTombstoneRepository } from './instances/instance-tombstone.repository';
import { InstanceController } from './instances/instance.controller';
import { InstanceEvents } from './instances/instance.events';
import { InstancePresenter } from './instances/instance.presenter';
import { InstanceReconciler } from './reconcilers/instance.reconciler';
import { InstanceFigureRepository } from './instances/instance-figure.repository';
import { InstanceFigures } from './instances/instance-figures';
import { InstanceRepository } from './instances/instance.repository';
import { InstanceCreation } from './instances/instance-creation.service';
import { InstanceEditing } from './instances/instance-editing.service';
import { InstanceRebuilding } from './instances/instance-rebuilding.service';
import { InstanceRescuing } from './instances/instance-rescuing.service';
import { InstanceResizing } from './instances/instance-resizing.service';
import { InstanceService } from './instances/instance.service';
import { InstanceVerbs } from './instances/instance-verbs.service';
import { InstanceVolumes } from './instances/instance-volumes.service';
import { PlacedInstances } from './instances/placed-instances';
import { VmmInventoryPart } from './vmms/vmm-inventory.part';
import { SshKeyController } from './ssh-keys/ssh-key.controller';
import { SshKeyRepository } from './ssh-keys/ssh-key.repository';
import { SshKeyService } from './ssh-keys/ssh-key.service';
import { VmmKinds } from './vmms/vmm-kinds';
import { ShareController } from './shares/share.controller';
import { ShareInventoryPart } from './shares/share-inventory.part';
import { Shares } from './shares/shares.service';
import { InstanceMemory } from './memory/instance-memory.service';
import { MemoryController } from './memory/memory.controller';
import { VsockController } from './vsock/vsock.controller';
import { VsockService } from './vsock/vsock.service';
import { VsockSocket } from './vsock/vsock.socket';
import { AttachPortWorkflow } from './workflows/attach-port.workflow';
import { DetachPortWorkflow } from './workflows/detach-port.workflow';
import { AttachVolumeWorkflow } from './workflows/attach-volume.workflow';
import { DetachVolumeWorkflow } from './workflows/detach-volume.workflow';
import { CreateInstanceWorkflow } from './workflows/create-instance.workflow';
import { CreateInstanceBatchWorkflow } from './workflows/create-instance-batch.workflow';
import { CoreDumpInstanceWorkflow } from './workflows/core-dump-instance.workflow';
import { DeleteCoreDumpWorkflow } from './workflows/delete-core-dump.workflow';
import { DeleteInstanceWorkflow } from './workflows/delete-instance.workflow';
import { InstanceSteps } from './workflows/instance-steps';
import { RebootInstanceWorkflow } from './workflows/reboot-instance.workflow';
import { BalloonInstanceWorkflow } from './workflows/balloon-instance.workflow';
import { NmiInstanceWorkflow } from './workflows/nmi-instance.workflow';
import { PauseInstanceWorkflow } from './workflows/pause-instance.workflow';
import { RescueInstanceWorkflow } from './workflows/rescue-instance.workflow';
import { ResumeInstanceWorkflow } from './workflows/resume-instance.workflow';
import { RebuildInstanceWorkflow } from './workflows/rebuild-instance.workflow';
import { ResizeInstanceWorkflow } from './workflows/resize-instance.workflow';
import { ResizeRunningInstanceWorkflow } from './workflows/resize-running-instance.workflow';
import { StartInstanceWorkflow } from './workflows/start-instance.workflow';
import { UnrescueInstanceWorkflow } from './workflows/unrescue-instance.workflow';
import { UnpauseInstanceWorkflow } from './workflows/unpause-instance.workflow';
import { SuspendInstanceWorkflow } from './workflows/suspend-instance.workflow';
import { StopInstanceWorkflow } from './workflows/stop-instance.workflow';
import { TellMetadataWorkflow } from './workflows/tell-metadata.workflow';

const workflows = [
  CreateInstanceWorkflow,
  CreateInstanceBatchWorkflow,
  DeleteInstanceWorkflow,
  StartInstanceWorkflow,
  StopInstanceWorkflow,
  RebootInstanceWorkflow,
  PauseInstanceWorkflow,
  SuspendInstanceWorkflow,
  ResumeInstanceWorkflow,
  UnpauseInstanceWorkflow,
  NmiInstanceWorkflow,
  BalloonInstanceWorkflow,
  CoreDumpInstanceWorkflow,
  DeleteCoreDumpWorkflow,
  TellMetadataWorkflow,
  ResizeInstanceWorkflow,
  ResizeRunningInstanceWorkflow,
  AttachPortWorkflow,
  DetachPortWorkflow,
  AttachVolumeWorkflow,
  DetachVolumeWorkflow,
  RebuildInstanceWorkflow,
  RescueInstanceWorkflow,
  UnrescueInstanceWorkflow,
];
const controllers = [
  FlavorController,
  SshKeyController,
  InstanceController,
  ConsoleController,
  MemoryController,
  CoreDumpController,
  VsockController,
  ShareController,
];
const parts = [
  FlavorRepository,
  FlavorService,
  VmmKinds,
  Shares,
  SshKeyRepository,
  SshKeyService,
  InstanceRepository,
  InstanceFigureRepository,
  InstanceFigures,
  InstanceTombstoneRepository,
  InstanceEvents,
  InstancePresenter,
  InstanceCreation,
  InstanceService,
  InstanceVerbs,
  InstanceEditing,
  InstanceResizing,
  InstanceRebuilding,
  InstanceRescuing,
  InstanceVolumes,
  GuestDataService,
  InstanceSteps,
  ConsoleService,
  ConsoleLogs,
  Screenshots,
  InstanceMemory,
  CoreDumps,
  CoreDumpDownloads,
  VsockService,
];

export const computeWiring: ManagementWiring = {
  bind: ({ bind }) => {
    for (const part of [
      ...parts,
      ...controllers,
      ...workflows,
      ConsoleSocket,
      VsockSocket,
      InstanceObservedSink,
      InstanceReconciler,
    ])
      bind<object>(part).toSelf().inSingletonScope();
    bind(ProjectUsage).to(ComputeProjectUsage).inSingletonScope();
    bind(ImageUsage).to(ComputeImageUsage).inSingletonScope();
    bind(InventoryPart).to(VmmInventoryPart).inSingletonScope();
    bind(InventoryPart).to(ShareInventoryPart).inSingletonScope();
    bind(LeftoverClaims).to(InstanceLeftoverClaims).inSingletonScope();
    bind(HostUsage).to(ComputeHostUsage).inSingletonScope();
    bind(InstanceHosts).to(PlacedInstances).inSingletonScope();
    bind(NetworkUsage).to(ComputeNetworkUsage).inSingletonScope();
  },
  controllers,
  workflows,
  sockets: [ConsoleSocket, VsockSocket],
  observed: [InstanceObservedSink],
  services: [InstanceFigures],
  periodic: [InstanceReconciler, InstanceFigures],
};
