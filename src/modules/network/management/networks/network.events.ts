import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { Outbox } from '../../../../core/events/outbox';

@injectable()
export class NetworkEvents {
  constructor(private readonly outbox: Outbox) {}

  /** `object`: as it is shown to users. */
  async changed(
    op: Op,
    kind: 'network' | 'subnet' | 'router',
    what: 'created' | 'updated' | 'deleted',
    object: { id: string; projectId: string },
  ): Promise<void> {
    await this.outbox.publish(op, {
      type: `${kind}.${what}`,
      projectId: object.projectId,
      subject: { kind, id: object.id },
      data: { ...object },
    });
  }
}
