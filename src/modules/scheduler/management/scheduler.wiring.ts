import type { ManagementWiring } from '../../../core/app/module-manifest';
import { Placement } from '../contract/scheduler.ports';
import { ClaimRepository } from './claim.repository';
import { PlacementService } from './placement.service';

export const schedulerWiring: ManagementWiring = {
  bind: ({ bind }) => {
    bind(ClaimRepository).toSelf().inSingletonScope();
    bind(Placement).to(PlacementService).inSingletonScope();
  },
};
