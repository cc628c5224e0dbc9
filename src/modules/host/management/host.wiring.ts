import type { ManagementWiring } from '../../../core/app/module-manifest';
import { NodeRegistry } from '../../../core/m2m/node-registry';
import { HostConditionNotes, Hosts } from '../contract/host.ports';
import { HostConditions } from './host-conditions.service';
import { HostReader } from './host-reader.service';
import { HostRegistry } from './host-registry.service';
import { HostTokenController } from './host-token.controller';
import { HostTokenRepository } from './host-token.repository';
import { HostTokenService } from './host-token.service';
import { HostController } from './host.controller';
import { HostRepository } from './host.repository';
import { HostService } from './host.service';
import { InventorySink } from './inventory.sink';
import { RecordProblemsSink } from './record-problems.sink';
import { RevisionsSink } from './revisions.sink';
import { TestHostWorkflow } from './workflows/test-host.workflow';
import { SilentHostReconciler } from './reconcilers/silent-host.reconciler';

const controllers = [HostController, HostTokenController];
const parts = [
  HostRepository,
  HostTokenRepository,
  HostConditions,
  HostTokenService,
  HostService,
  TestHostWorkflow,
  InventorySink,
  RevisionsSink,
  RecordProblemsSink,
  SilentHostReconciler,
];

export const hostWiring: ManagementWiring = {
  bind: ({ bind }) => {
    for (const part of [...parts, ...controllers]) bind<object>(part).toSelf().inSingletonScope();
    bind(NodeRegistry).to(HostRegistry).inSingletonScope();
    bind(Hosts).to(HostReader).inSingletonScope();
    bind(HostConditionNotes).toService(HostConditions);
  },
  controllers,
  workflows: [TestHostWorkflow],
  observed: [RevisionsSink, InventorySink, RecordProblemsSink],
  services: [SilentHostReconciler],
};
