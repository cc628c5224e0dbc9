import type { ManagementWiring } from '../../../core/app/module-manifest';
import { HostClaims } from '../../host/contract/host.ports';
import { Placement } from '../contract/scheduler.ports';
import { ClaimRepository } from './claim.repository';
import { SchedulerPlacement } from './scheduler-placement';
import { SchedulerHostClaims } from './scheduler-host-claims';

export const schedulerWiring: ManagementWiring = {
  bind: ({ bind }) => {
    bind(ClaimRepository).toSelf().inSingletonScope();
    bind(HostClaims).to(SchedulerHostClaims).inSingletonScope();
    bind(Placement).to(SchedulerPlacement).inSingletonScope();
  },
};
