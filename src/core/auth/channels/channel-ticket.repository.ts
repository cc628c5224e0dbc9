import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';
import type { Credential } from '../principal';

export interface Redeemed {
  subjectId: string;
  credential: Credential;
}

interface Row {
  subject_id: string;
  via: Credential['via'];
  credential_id: string;
  user_id: string;
}

/** Hashes of tickets that are out. */
@injectable()
export class ChannelTicketRepository {
  /** Also drops expired ones. */
  async add(
    op: Op,
    hash: Buffer,
    ticket: { purpose: string; subjectId: string; credential: Credential },
    seconds: number,
  ): Promise<void> {
    const { purpose, subjectId, credential } = ticket;
    await op.query('DELETE FROM channel_ticket WHERE expires_at < now()');
    await op.query(
      'INSERT INTO channel_ticket (hash, purpose, subject_id, via, credential_id, user_id, expires_at) VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))',
      [hash, purpose, subjectId, credential.via, credential.id, credential.userId, seconds],
    );
  }

  async take(op: Op, hash: Buffer, purpose: string): Promise<Redeemed | undefined> {
    const [row] = await op.query<Row>(
      'DELETE FROM channel_ticket WHERE hash = $1 AND purpose = $2 AND expires_at >= now() RETURNING subject_id, via, credential_id, user_id',
      [hash, purpose],
    );
    return (
      row && { subjectId: row.subject_id, credential: { via: row.via, id: row.credential_id, userId: row.user_id } }
    );
  }
}
