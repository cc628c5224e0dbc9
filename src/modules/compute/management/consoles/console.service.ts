import { injectable } from 'inversify';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import { ChannelTickets, ticketSeconds } from '../../../../core/auth/channels/channel-tickets';
import { PermissionCatalogue } from '../../../../core/auth/permissions/permission-catalogue';
import { Database } from '../../../../core/db/database';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, Problem } from '../../../../core/errors/problem';
import { Hosts } from '../../../host/contract/host.ports';
import type { ConsoleProtocol, consoleTicket } from '../../contract/compute.api';
import { machineRefusal } from '../../contract/instance-states';
import type { VmmCapability } from '../../contract/vmm-capabilities';
import type { Admission } from '../../../../core/http/sockets/socket-route';
import type { InstanceEntity } from '../instances/instance.entity';
import { InstanceRepository } from '../instances/instance.repository';
import { InstanceService } from '../instances/instance.service';
import { vmmsOf } from '../vmms/vmm-needs';

export interface ConsoleTarget {
  instanceId: string;
  hostId: string;
}

export const consolePermission = 'instance:console';

/** What tickets and channels are called by what they are for, and where the sockets are. */
const ways = {
  serial: { purpose: 'console', path: '/api/v1/console' },
  vnc: { purpose: 'vnc', path: '/api/v1/vnc' },
} as const satisfies Record<ConsoleProtocol, { purpose: string; path: string }>;

/** Who may be at a serial console or a screen. */
@injectable()
export class ConsoleService {
  constructor(
    private readonly database: Database,
    private readonly tickets: ChannelTickets,
    private readonly instances: InstanceService,
    private readonly repository: InstanceRepository,
    private readonly permissions: PermissionCatalogue,
    private readonly hosts: Hosts,
  ) {}

  /** 409 `instance_has_no_host`; for a screen also `no_screen`, and what its state says. */
  async ticket(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    protocol: ConsoleProtocol,
  ): Promise<z.input<typeof consoleTicket>> {
    const instance = await this.instances.pick(op, access, projectId, ref);
    if (instance.hostId === null)
      throw conflict('instance_has_no_host', 'It has no host, so there is no console.', { state: instance.state });
    if (protocol === 'vnc') await this.requireScreen(op, { ...instance, hostId: instance.hostId });
    const { purpose, path } = ways[protocol];
    const ticket = await this.tickets.issue(op, access.principal, purpose, instance.id);
    return { ticket, expiresIn: ticketSeconds, protocol, path: `${path}?ticket=${ticket}` };
  }

  /** What is known here of whether it has one: of this very run of the machine only its host knows. */
  private async requireScreen(
    op: Op,
    { hostId, vmm, state }: Pick<InstanceEntity, 'state' | 'vmm'> & { hostId: string },
  ): Promise<void> {
    const refusal = machineRefusal(state);
    if (refusal) throw conflict(refusal.code, refusal.detail, { state });
    const kept = vmmsOf((await this.hosts.byId(op, hostId))?.parts ?? {}).find(({ kind }) => kind === vmm);
    if (kept?.usable === true && !kept.capabilities.includes('vnc' satisfies VmmCapability))
      throw conflict('no_screen', `Its VMM, ${kept.kind}, has no screen on its host: use the serial console.`, {
        state,
      });
  }

  /** 401 `invalid_ticket` for one that is unknown, used or expired. */
  async redeem(ticket: string, protocol: ConsoleProtocol): Promise<Admission<ConsoleTarget>> {
    const { purpose } = ways[protocol];
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
        kind: purpose,
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
