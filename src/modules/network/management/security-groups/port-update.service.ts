import { injectable } from 'inversify';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import { findRow } from '../../../../core/db/rows/rows';
import { notFound } from '../../../../core/errors/problem';
import type { updatePort } from '../../contract/security-group.api';
import { seesHosts } from '../../../host/contract/sees-hosts';
import type { Port } from '../../contract/network.api';
import { PortEntity } from '../ports/port.entity';
import { PortRepository } from '../ports/port.repository';
import { presentPort } from '../ports/present-port';
import { BehindHosts } from './behind-hosts';
import { GroupMembersRepository } from './group-members.repository';
import { PortGroups } from './port-groups';

/** Changes of ports by users. */
@injectable()
export class PortUpdateService {
  constructor(
    private readonly ports: PortRepository,
    private readonly members: GroupMembersRepository,
    private readonly groups: PortGroups,
    private readonly behind: BehindHosts,
  ) {}

  /**
   * Puts the port into these groups and no others; hosts hear of it by tasks. 422 `security_group_not_found`,
   * `too_many_security_groups`.
   */
  async update(op: Op, access: Access, id: string, input: z.output<typeof updatePort>): Promise<Port> {
    const port = await findRow(op, PortEntity, { id }, { lock: 'FOR NO KEY UPDATE' });
    if (!port) throw notFound('port', id);
    access.assert(port.projectId, 'port', id);
    if (input.securityGroups !== undefined) await this.move(op, port, input.securityGroups);
    const shown = await this.ports.oneShown(op, id);
    if (!shown) throw notFound('port', id);
    return presentPort(shown, seesHosts(access.principal));
  }

  private async move(op: Op, port: PortEntity, refs: readonly string[]): Promise<void> {
    const { id } = port;
    const wanted = await this.groups.resolve(op, port.projectId, refs, 'body.securityGroups');
    const before = await this.members.ofPort(op, id);
    const moved = [...before.filter((one) => !wanted.includes(one)), ...wanted.filter((one) => !before.includes(one))];
    if (moved.length === 0) return;
    await this.behind.mark(op, moved, [port.hostId]);
    await this.members.set(op, id, wanted);
  }
}
