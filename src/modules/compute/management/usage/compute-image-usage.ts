import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { ImageUsage, type ImageUsers } from '../../../image/contract/image.ports';
import { InstanceRepository } from '../instances/instance.repository';

/** Keeps images from being deleted while an instance is still made from them. */
@injectable()
export class ComputeImageUsage extends ImageUsage {
  constructor(private readonly instances: InstanceRepository) {
    super();
  }

  override users(op: Op, imageId: string, limit: number): Promise<ImageUsers> {
    return this.instances.ofImage(op, imageId, limit);
  }
}
