import type { NodeWiring } from '../../../core/app/module-manifest';
import { HostHandlers } from './host.handlers';
import { HostInventorySource } from './inventory.source';
import { HostLeftovers } from './leftovers/host-leftovers';
import { LeftoversSource } from './leftovers/leftovers.source';
import { RecordProblemsSource } from './record-problems.source';

export const hostNodeWiring: NodeWiring = {
  bind: ({ bind }) => {
    bind(HostInventorySource).toSelf().inSingletonScope();
    bind(RecordProblemsSource).toSelf().inSingletonScope();
    bind(HostLeftovers).toSelf().inSingletonScope();
    bind(LeftoversSource).toSelf().inSingletonScope();
    bind(HostHandlers).toSelf().inSingletonScope();
  },
  verbs: [HostHandlers],
  observed: [HostInventorySource, RecordProblemsSource, LeftoversSource],
};
