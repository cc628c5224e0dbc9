import { injectable } from 'inversify';
import type { Op } from '../../../core/db/op';
import { ImageUsage, type ImageUser } from '../../image/contract/image.ports';
import { VolumeRepository } from './volume.repository';

@injectable()
export class VolumeImageUsage extends ImageUsage {
  constructor(private readonly volumes: VolumeRepository) {
    super();
  }

  override async users(op: Op, imageId: string, limit: number): Promise<ImageUser[]> {
    return (await this.volumes.ofImage(op, imageId, limit)).map((v) => ({ kind: 'volume', id: v.id, name: v.name }));
  }
}
