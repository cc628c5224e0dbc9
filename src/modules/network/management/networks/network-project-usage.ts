import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { ProjectUsage, type OwnedResources } from '../../../identity/contract/identity.ports';
import { NetworkRepository } from './network.repository';

@injectable()
export class NetworkProjectUsage extends ProjectUsage {
  constructor(private readonly networks: NetworkRepository) {
    super();
  }

  override async resources(op: Op, projectId: string, limit: number): Promise<OwnedResources[]> {
    return [await this.networks.ofProject(op, projectId, limit)];
  }
}
