import { injectable } from 'inversify';
import type { Op } from '../../../core/db/rows/op';
import { Outbox } from '../../../core/events/outbox';
import { presentVolume } from './volume.presenter';
import type { ShownVolume } from './volume.repository';

@injectable()
export class VolumeEvents {
  constructor(private readonly outbox: Outbox) {}

  async changed(op: Op, what: 'created' | 'updated' | 'deleted', volume: ShownVolume): Promise<void> {
    await this.outbox.publish(op, {
      type: `volume.${what}`,
      projectId: volume.projectId,
      subject: { kind: 'volume', id: volume.id },
      // Events go to all who see the volume, and not all of them see hosts.
      data: { ...presentVolume(volume, null) },
    });
  }
}
