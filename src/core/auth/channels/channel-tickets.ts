import { createHash, randomBytes } from 'node:crypto';
import { injectable } from 'inversify';
import { Database } from '../../db/database';
import type { Op } from '../../db/rows/op';
import { ChannelTicketRepository, type Redeemed } from './channel-ticket.repository';
import { type Principal, sessionOf } from '../principal';

/** Tickets are fetched and used in one go. Seconds. */
export const ticketSeconds = 30;
/** Longer than any ticket. In characters. */
const maxLength = 128;

const hashOf = (ticket: string): Buffer => createHash('sha256').update(ticket).digest();

/**
 * One-time tickets for channels: a browser's WebSocket carries no authorization header. A ticket only names who asked
 * for it: what that one may do is asked anew when it is used.
 */
@injectable()
export class ChannelTickets {
  constructor(
    private readonly database: Database,
    private readonly tickets: ChannelTicketRepository,
  ) {}

  /** @param purpose a ticket opens only what it was given out for */
  async issue(op: Op, principal: Principal, purpose: string, subjectId: string): Promise<string> {
    const ticket = randomBytes(32).toString('base64url');
    await this.tickets.add(op, hashOf(ticket), { purpose, subjectId, credential: sessionOf(principal) }, ticketSeconds);
    return ticket;
  }

  /** Uses a ticket up. Undefined when it is unknown, used, expired or for something else. */
  async redeem(ticket: string, purpose: string): Promise<Redeemed | undefined> {
    return ticket.length > 0 && ticket.length <= maxLength
      ? this.tickets.take(this.database.op, hashOf(ticket), purpose)
      : undefined;
  }
}
