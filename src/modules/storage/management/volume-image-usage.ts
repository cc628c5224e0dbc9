import { injectable } from 'inversify';
import type { Op } from '../../../core/db/rows/op';
import { ImageUsage, type ImageUsers } from '../../image/contract/image.ports';
import { VolumeRepository } from './volume.repository';

@injectable()
export class VolumeImageUsage extends ImageUsage {
  constructor(private readonly volumes: VolumeRepository) {
    super();
  }

  override users(op: Op, imageId: string, limit: number): Promise<ImageUsers> {
    return this.volumes.ofImage(op, imageId, limit);
  }
}
