import { injectable } from 'inversify';
import type { Op } from '../../../core/db/rows/op';
import { ProjectUsage, type OwnedResources } from '../../identity/contract/identity.ports';
import { VolumeRepository } from './volume.repository';

@injectable()
export class VolumeProjectUsage extends ProjectUsage {
  constructor(private readonly volumes: VolumeRepository) {
    super();
  }

  override async resources(op: Op, projectId: string, limit: number): Promise<OwnedResources[]> {
    return [await this.volumes.ofProject(op, projectId, limit)];
  }
}
