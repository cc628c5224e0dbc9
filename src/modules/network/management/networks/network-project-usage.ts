import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { ProjectUsage, type OwnedResources } from '../../../identity/contract/identity.ports';
import { RouterRepository } from '../routers/router.repository';
import { SecurityGroupRepository } from '../security-groups/security-group.repository';
import { NetworkRepository } from './network.repository';

@injectable()
export class NetworkProjectUsage extends ProjectUsage {
  constructor(
    private readonly networks: NetworkRepository,
    private readonly routers: RouterRepository,
    private readonly groups: SecurityGroupRepository,
  ) {
    super();
  }

  override async resources(op: Op, projectId: string, limit: number): Promise<OwnedResources[]> {
    return [
      await this.networks.ofProject(op, projectId, limit),
      await this.routers.ofProject(op, projectId, limit),
      await this.groups.ofProject(op, projectId, limit),
    ];
  }

  override gone(op: Op, projectId: string): Promise<void> {
    return this.groups.removeOf(op, projectId);
  }
}
