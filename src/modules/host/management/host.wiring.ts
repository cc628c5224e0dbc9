import type { ManagementWiring } from '../../../core/app/module-manifest';
import { NodeRegistry } from '../../../core/m2m/management/node-registry';
import { HostConditionNotes, Hosts } from '../contract/host.ports';
import { HostConditions } from './conditions/host-conditions.service';
import { PostgresHosts } from './hosts/postgres-hosts';
import { HostRegistry } from './hosts/host-registry.service';
import { HostTokenController } from './tokens/host-token.controller';
import { HostTokenRepository } from './tokens/host-token.repository';
import { HostTokenService } from './tokens/host-token.service';
import { HostController } from './hosts/host.controller';
import { HostRepository } from './hosts/host.repository';
import { HostService } from './hosts/host.service';
import { InventorySink } from './observers/inventory.sink';
import { RecordProblemsSink } from './observers/record-problems.sink';
import { RevisionsSink } from './observers/revisions.sink';
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
    bind(Hosts).to(PostgresHosts).inSingletonScope();
    bind(HostConditionNotes).toService(HostConditions);
  },
  controllers,
  workflows: [TestHostWorkflow],
  observed: [RevisionsSink, InventorySink, RecordProblemsSink],
  periodic: [SilentHostReconciler],
};
