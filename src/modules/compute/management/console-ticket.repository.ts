import { injectable } from 'inversify';
import type { Op } from '../../../core/db/op';

@injectable()
export class ConsoleTicketRepository {
  /** Stores a ticket's hash and drops expired ones. */
  async issue(op: Op, hash: Buffer, instanceId: string, sessionId: string, seconds: number): Promise<void> {
    await op.query('DELETE FROM console_ticket WHERE expires_at < now()');
    await op.query("INSERT INTO console_ticket (hash, instance_id, session_id, expires_at) VALUES ($1, $2, $3, now() + make_interval(secs => $4))", [hash, instanceId, sessionId, seconds]);
  }

  /** Uses a ticket up. Undefined when it is unknown, used or expired. */
  async redeem(op: Op, hash: Buffer): Promise<{ instanceId: string; hostId: string | null } | undefined> {
    const rows = await op.query<{ instance_id: string }>('DELETE FROM console_ticket WHERE hash = $1 AND expires_at >= now() RETURNING instance_id', [hash]);
    const instanceId = rows[0]?.instance_id;
    if (instanceId === undefined) return undefined;
    const hosts: { host_id: string | null }[] = await op.query('SELECT host_id FROM instance WHERE id = $1', [instanceId]);
    return { instanceId, hostId: hosts[0]?.host_id ?? null };
  }
}
