import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { Outbox } from '../../../../core/events/outbox';
import type { Network } from '../../contract/network.api';

@injectable()
export class NetworkEvents {
  constructor(private readonly outbox: Outbox) {}

  async changed(op: Op, what: 'created' | 'updated' | 'deleted', network: Network): Promise<void> {
    await this.outbox.publish(op, {
      type: `network.${what}`,
      projectId: network.projectId,
      subject: { kind: 'network', id: network.id },
      data: { ...network },
    });
  }
}
