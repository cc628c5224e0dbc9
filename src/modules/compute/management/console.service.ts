import { injectable } from 'inversify';
import { createHash, randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Access } from '../../../core/auth/access';
import { Database } from '../../../core/db/database';
import type { Op } from '../../../core/db/op';
import { conflict, Problem } from '../../../core/errors/problem';
import type { consoleTicket } from '../contract/compute.api';
import { ConsoleTicketRepository } from './console-ticket.repository';
import { InstanceService } from './instance.service';

const ticketSeconds = 30;
const hashOf = (ticket: string): Buffer => createHash('sha256').update(ticket).digest();

/** One-time tickets for serial consoles: a browser's WebSocket carries no authorization header. */
@injectable()
export class ConsoleService {
  constructor(
    private readonly database: Database,
    private readonly tickets: ConsoleTicketRepository,
    private readonly instances: InstanceService,
  ) {}

  async ticket(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<z.input<typeof consoleTicket>> {
    const instance = await this.instances.pick(op, access, projectId, ref);
    if (instance.hostId === null) throw conflict('instance_has_no_host', 'It has no host, so there is no console.', { state: instance.state });
    const ticket = randomBytes(32).toString('base64url');
    await this.tickets.issue(op, hashOf(ticket), instance.id, access.principal.sessionId, ticketSeconds);
    return { ticket, expiresIn: ticketSeconds, path: `/api/v1/console?ticket=${ticket}` };
  }

  /** 401 `invalid_ticket` for one that is unknown, used or expired. */
  async redeem(ticket: string): Promise<{ instanceId: string; hostId: string }> {
    const found = ticket.length <= 128 ? await this.database.tx((op) => this.tickets.redeem(op, hashOf(ticket))) : undefined;
    if (found?.hostId == null) throw new Problem({ status: 401, code: 'invalid_ticket', detail: 'This console ticket is unknown, used or expired. Ask for a new one.' });
    return { instanceId: found.instanceId, hostId: found.hostId };
  }
}
