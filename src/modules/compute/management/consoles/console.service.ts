import { injectable } from 'inversify';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import { ChannelTickets, ticketSeconds } from '../../../../core/auth/channels/channel-tickets';
import { PermissionCatalogue } from '../../../../core/auth/permissions/permission-catalogue';
import { Database } from '../../../../core/db/database';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, Problem } from '../../../../core/errors/problem';
import type { consoleTicket } from '../../contract/compute.api';
import type { Admission } from '../../../../core/http/sockets/socket-route';
import { InstanceRepository } from '../instances/instance.repository';
import { InstanceService } from '../instances/instance.service';

export interface ConsoleTarget {
  instanceId: string;
  hostId: string;
}

export const consolePermission = 'instance:console';
const purpose = 'console';

/** Who may be at a serial console. */
@injectable()
export class ConsoleService {
  constructor(
    private readonly database: Database,
    private readonly tickets: ChannelTickets,
    private readonly instances: InstanceService,
    private readonly repository: InstanceRepository,
    private readonly permissions: PermissionCatalogue,
  ) {}

  async ticket(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
  ): Promise<z.input<typeof consoleTicket>> {
    const instance = await this.instances.pick(op, access, projectId, ref);
    if (instance.hostId === null)
      throw conflict('instance_has_no_host', 'It has no host, so there is no console.', { state: instance.state });
    const ticket = await this.tickets.issue(op, access.principal, purpose, instance.id);
    return { ticket, expiresIn: ticketSeconds, path: `/api/v1/console?ticket=${ticket}` };
  }

  /** 401 `invalid_ticket` for one that is unknown, used or expired. */
  async redeem(ticket: string): Promise<Admission<ConsoleTarget>> {
    const found = await this.tickets.redeem(ticket, purpose);
    const instance = found && (await this.repository.byId(this.database.op, found.subjectId));
    if (!found || !instance || instance.hostId === null)
      throw new Problem({
        status: 401,
        code: 'invalid_ticket',
        detail: 'This console ticket is unknown, used or expired. Ask for a new one.',
      });
    const { id, projectId, hostId } = instance;
    return {
      claim: {
        kind: 'console',
        credential: found.credential,
        subject: { kind: 'instance', id },
        allows: (principal) => {
          const projects = this.permissions.allowedProjects(principal, consolePermission);
          return projects === 'all' || projects.includes(projectId);
        },
      },
      target: { instanceId: id, hostId },
    };
  }
}
