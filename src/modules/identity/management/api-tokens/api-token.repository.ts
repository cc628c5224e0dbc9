import { injectable } from 'inversify';
import { Conditions } from '../../../../core/db/rows/conditions';
import { rowsInOrder } from '../../../../core/db/rows/keyset';
import { countRows, findRow, removeRows } from '../../../../core/db/rows/rows';
import type { Op } from '../../../../core/db/rows/op';
import { ApiTokenEntity } from './api-token.entity';
import { AuthorityCache } from '../authority/authority-cache';

export interface NewApiToken {
  id: string;
  userId: string;
  name: string;
  hash: Buffer;
  scopes: string[] | null;
  expiresInDays: number | null;
}

@injectable()
export class ApiTokenRepository {
  constructor(private readonly cache: AuthorityCache) {}

  /** Null when the user has a token of that name. */
  async insert(op: Op, token: NewApiToken): Promise<ApiTokenEntity | null> {
    const rows: unknown[] = await op.query(
      `INSERT INTO api_token (id, user_id, name, hash, scopes, expires_at) VALUES ($1, $2, $3, $4, $5, now() + make_interval(days => $6))
       ON CONFLICT ON CONSTRAINT api_token_user_name_key DO NOTHING RETURNING id`,
      [token.id, token.userId, token.name, token.hash, token.scopes, token.expiresInDays],
    );
    return rows.length === 0 ? null : findRow(op, ApiTokenEntity, { id: token.id });
  }

  /** Newest first (ids are ordered by time), `limit` rows after the id `after`. */
  page(op: Op, userId: string, limit: number, after?: string, q?: string): Promise<ApiTokenEntity[]> {
    const found = new Conditions()
      .equal('t.user_id', userId)
      .before('t.id', after)
      .search(q, { ids: ['t.id'], texts: ['t.name'] });
    return rowsInOrder(op, ApiTokenEntity, found, { alias: 't', order: 't.id DESC', limit });
  }

  async count(op: Op, userId: string): Promise<number> {
    return countRows(op, ApiTokenEntity, { userId });
  }

  /** By id or name, of this user only. False when there is none. */
  async delete(op: Op, userId: string, key: { id: string } | { name: string }): Promise<boolean> {
    const removed = await removeRows(op, ApiTokenEntity, { userId, ...key });
    op.afterCommit(() => this.cache.forget(userId));
    return removed > 0;
  }

  async deleteAllOf(op: Op, userId: string): Promise<void> {
    await removeRows(op, ApiTokenEntity, { userId });
    op.afterCommit(() => this.cache.forget(userId));
  }

  async touch(op: Op, id: string): Promise<void> {
    await op.query(`UPDATE api_token SET last_used_at = now() WHERE id = $1`, [id]);
  }
}
