import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { Outbox } from '../../../../core/events/outbox';
import type { SecurityGroup } from '../../contract/security-group.api';

@injectable()
export class SecurityGroupEvents {
  constructor(private readonly outbox: Outbox) {}

  async changed(op: Op, what: 'created' | 'updated' | 'deleted', group: SecurityGroup): Promise<void> {
    await this.outbox.publish(op, {
      type: `security-group.${what}`,
      projectId: group.projectId,
      subject: { kind: 'security-group', id: group.id },
      data: { ...group },
    });
  }
}
