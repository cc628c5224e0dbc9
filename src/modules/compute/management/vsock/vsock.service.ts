import { injectable } from 'inversify';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import { ChannelTickets, ticketSeconds } from '../../../../core/auth/channels/channel-tickets';
import { PermissionCatalogue } from '../../../../core/auth/permissions/permission-catalogue';
import { Database } from '../../../../core/db/database';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, Problem } from '../../../../core/errors/problem';
import type { Admission } from '../../../../core/http/sockets/socket-route';
import { vsockPort, type vsockTicket } from '../../contract/compute.api';
import { machineRefusal } from '../../contract/instance-states';
import { consolePermission } from '../consoles/console.service';
import { InstanceRepository } from '../instances/instance.repository';
import { InstanceService } from '../instances/instance.service';

export interface VsockTarget {
  instanceId: string;
  hostId: string;
  port: number;
}

/** What tickets and channels are called. */
const purpose = 'vsock';

/** Who may have a stream to a port of a guest: whoever may be at its console. */
@injectable()
export class VsockService {
  constructor(
    private readonly database: Database,
    private readonly tickets: ChannelTickets,
    private readonly instances: InstanceService,
    private readonly repository: InstanceRepository,
    private readonly permissions: PermissionCatalogue,
  ) {}

  /** 409 `no_vsock`, `instance_has_no_host`, and what its state says. */
  async ticket(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    port: number,
  ): Promise<z.input<typeof vsockTicket>> {
    const { id, hostId, machine, state } = await this.instances.pick(op, access, projectId, ref);
    if (machine.vsock !== true)
      throw conflict('no_vsock', 'Its machine has no vsock, which an instance gets with its create.', { state });
    if (hostId === null) throw conflict('instance_has_no_host', 'It has no host, so there is no guest.', { state });
    const refusal = machineRefusal(state);
    if (refusal) throw conflict(refusal.code, refusal.detail, { state });
    const ticket = await this.tickets.issue(op, access.principal, purpose, id);
    return { ticket, expiresIn: ticketSeconds, path: `/api/v1/vsock?ticket=${ticket}&port=${port}` };
  }

  /** 401 `invalid_ticket` for one that is unknown, used or expired, and for what is no port. */
  async redeem(query: URLSearchParams): Promise<Admission<VsockTarget>> {
    const port = vsockPort.safeParse(Number(query.get('port')));
    const found = port.success ? await this.tickets.redeem(query.get('ticket') ?? '', purpose) : undefined;
    const instance = found && (await this.repository.byId(this.database.op, found.subjectId));
    if (!port.success || !found || !instance || instance.hostId === null)
      throw new Problem({
        status: 401,
        code: 'invalid_ticket',
        detail: 'This ticket is unknown, used or expired, or names no port. Ask for a new one.',
      });
    const { id, projectId, hostId } = instance;
    return {
      claim: {
        kind: purpose,
        credential: found.credential,
        subject: { kind: 'instance', id },
        allows: (principal) => {
          const projects = this.permissions.allowedProjects(principal, consolePermission);
          return projects === 'all' || projects.includes(projectId);
        },
      },
      target: { instanceId: id, hostId, port: port.data },
    };
  }
}
