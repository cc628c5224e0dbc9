import { injectable } from 'inversify';
import type { Op } from '../../../core/db/rows/op';
import { HostClaims, type ClaimedRoom } from '../../host/contract/host.ports';
import { ClaimRepository } from './claim.repository';

@injectable()
export class SchedulerHostClaims extends HostClaims {
  constructor(private readonly claims: ClaimRepository) {
    super();
  }

  override claimed(op: Op, hostIds: string[]): Promise<Map<string, ClaimedRoom>> {
    return this.claims.usage(op, hostIds);
  }
}
