import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { Outbox } from '../../../../core/events/outbox';
import type { ImageEntity } from './image.entity';
import { presentImage } from './image.presenter';

@injectable()
export class ImageEvents {
  constructor(private readonly outbox: Outbox) {}

  async changed(op: Op, what: 'created' | 'updated' | 'deleted', image: ImageEntity): Promise<void> {
    const { vendorData: _long, ...data } = presentImage(image);
    await this.outbox.publish(op, {
      type: `image.${what}`,
      projectId: image.projectId,
      everyone: image.public,
      subject: { kind: 'image', id: image.id },
      data,
    });
  }
}
