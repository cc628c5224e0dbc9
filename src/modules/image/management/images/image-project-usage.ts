import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { ProjectUsage, type OwnedResources } from '../../../identity/contract/identity.ports';
import { ImageRepository } from './image.repository';

@injectable()
export class ImageProjectUsage extends ProjectUsage {
  constructor(private readonly images: ImageRepository) {
    super();
  }

  override async resources(op: Op, projectId: string, limit: number): Promise<OwnedResources[]> {
    return [await this.images.ofProject(op, projectId, limit)];
  }
}
