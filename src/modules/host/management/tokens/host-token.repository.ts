import { injectable } from 'inversify';
import { Conditions } from '../../../../core/db/rows/conditions';
import { keysetPage, newestFirst } from '../../../../core/db/rows/keyset';
import { findRow, removeRows } from '../../../../core/db/rows/rows';
import type { Op } from '../../../../core/db/rows/op';
import type { PageRequest } from '../../../../core/http/routes/pagination';
import { HostTokenEntity } from './host-token.entity';

export type LockedToken = HostTokenEntity & { expired: boolean };

@injectable()
export class HostTokenRepository {
  /** Life counts on the database's clock. */
  async insert(op: Op, token: { id: string; secretHash: string; createdBy: string; minutes: number }): Promise<Date> {
    const rows = await op.query<{ expires_at: Date }>(
      'INSERT INTO host_token (id, secret_hash, created_by, expires_at) VALUES ($1, $2, $3, now() + make_interval(mins => $4)) RETURNING expires_at',
      [token.id, token.secretHash, token.createdBy, token.minutes],
    );
    const row = rows[0];
    if (!row) throw new Error('the token was not stored');
    return row.expires_at;
  }

  /** Locks the token, so that of two uses at once one is the first. */
  async lock(op: Op, id: string): Promise<LockedToken | null> {
    const token = await findRow(op, HostTokenEntity, { id }, { lock: 'FOR UPDATE' });
    if (!token) return null;
    const rows = await op.query<{ expired: boolean }>(
      'SELECT expires_at <= clock_timestamp() AS expired FROM host_token WHERE id = $1',
      [id],
    );
    return Object.assign(token, { expired: rows[0]?.expired !== false });
  }

  async markUsed(op: Op, id: string, keyHash: string, hostId: string): Promise<void> {
    await op.query('UPDATE host_token SET used_at = clock_timestamp(), key_hash = $2, host_id = $3 WHERE id = $1', [
      id,
      keyHash,
      hostId,
    ]);
  }

  list(op: Op, { limit, cursor, q }: PageRequest): Promise<{ rows: HostTokenEntity[]; next: string | null }> {
    const found = new Conditions().search(q, { ids: ['t.id'] });
    return keysetPage(op, HostTokenEntity, found, {
      ...newestFirst,
      alias: 't',
      limit,
      cursor,
    });
  }

  /** False when there is none. */
  async remove(op: Op, id: string): Promise<boolean> {
    return (await removeRows(op, HostTokenEntity, { id })) > 0;
  }

  /** Tokens that nobody can use any more, a week later. */
  async purge(op: Op): Promise<void> {
    await op.query(`DELETE FROM host_token WHERE expires_at < now() - interval '7 days'`);
  }
}
