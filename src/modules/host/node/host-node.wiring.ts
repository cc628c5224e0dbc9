import type { NodeWiring } from '../../../core/app/module-manifest';
import { HostCpus } from '../contract/host.ports';
import { CpusChecked } from './cpus-checked';
import { HostHandlers } from './host.handlers';
import { MachineCpus } from './machine-cpus';
import { HostInventorySource } from './inventory.source';
import { HostLeftovers } from './leftovers/host-leftovers';
import { LeftoversSource } from './leftovers/leftovers.source';
import { RecordProblemsSource } from './record-problems.source';

export const hostNodeWiring: NodeWiring = {
  bind: ({ bind }) => {
    bind(MachineCpus).toSelf().inSingletonScope();
    bind(HostCpus).toService(MachineCpus);
    bind(CpusChecked).toSelf().inSingletonScope();
    bind(HostInventorySource).toSelf().inSingletonScope();
    bind(RecordProblemsSource).toSelf().inSingletonScope();
    bind(HostLeftovers).toSelf().inSingletonScope();
    bind(LeftoversSource).toSelf().inSingletonScope();
    bind(HostHandlers).toSelf().inSingletonScope();
  },
  verbs: [HostHandlers],
  services: [CpusChecked],
  observed: [HostInventorySource, RecordProblemsSource, LeftoversSource],
};
