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
import { ClaimedLeftovers } from './leftovers/claimed-leftovers';
import { HostLeftoversController } from './leftovers/host-leftovers.controller';
import { HostLeftoversRepository } from './leftovers/host-leftovers.repository';
import { HostLeftoversService } from './leftovers/host-leftovers.service';
import { LeftoversSink } from './observers/leftovers.sink';
import { RecordProblemsSink } from './observers/record-problems.sink';
import { RevisionsSink } from './observers/revisions.sink';
import { RemoveLeftoversWorkflow } from './workflows/remove-leftovers.workflow';
import { TestHostWorkflow } from './workflows/test-host.workflow';
import { SilentHostReconciler } from './reconcilers/silent-host.reconciler';

const controllers = [HostController, HostLeftoversController, HostTokenController];
const parts = [
  HostRepository,
  HostTokenRepository,
  HostConditions,
  HostTokenService,
  HostService,
  TestHostWorkflow,
  ClaimedLeftovers,
  HostLeftoversRepository,
  HostLeftoversService,
  RemoveLeftoversWorkflow,
  InventorySink,
  RevisionsSink,
  RecordProblemsSink,
  LeftoversSink,
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
  workflows: [TestHostWorkflow, RemoveLeftoversWorkflow],
  observed: [RevisionsSink, InventorySink, RecordProblemsSink, LeftoversSink],
  periodic: [SilentHostReconciler],
};
