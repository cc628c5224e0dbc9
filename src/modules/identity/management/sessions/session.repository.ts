import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { searchCondition } from '../../../../core/db/rows/search';
import { AuthorityCache } from '../authority/authority-cache';

export interface RefreshRow {
  sessionId: string;
  userId: string;
  hash: Buffer;
  /** Neither expired nor of a session that ended or of a disabled user. */
  valid: boolean;
  used: boolean;
}

export interface OpenSession {
  id: string;
  remoteAddress: string | null;
  createdAt: string;
  lastUsedAt: string;
  expiresAt: string;
}

/** Sessions and their refresh tokens. All times are the database's. */
@injectable()
export class SessionRepository {
  constructor(private readonly cache: AuthorityCache) {}

  /** Seconds since 1970. */
  async now(op: Op): Promise<number> {
    const rows: { now: number }[] = await op.query('SELECT floor(extract(epoch FROM now()))::float8 AS now');
    if (!rows[0]) throw new Error('the database does not say what time it is');
    return rows[0].now;
  }

  /** False when the user is gone or disabled meanwhile. Holds the user's row until the transaction ends. */
  async open(
    op: Op,
    session: { id: string; userId: string; passwordHash: string; days: number; remoteAddress: string },
  ): Promise<boolean> {
    const rows: unknown[] = await op.query(
      `WITH holder AS (SELECT id FROM app_user WHERE id = $2 AND enabled AND password_hash = $3 FOR KEY SHARE)
       INSERT INTO session (id, user_id, expires_at, remote_address) SELECT $1, holder.id, now() + make_interval(days => $4), $5 FROM holder RETURNING id`,
      [session.id, session.userId, session.passwordHash, session.days, session.remoteAddress],
    );
    return rows.length > 0;
  }

  /** Ends with the session at the latest. Returns the seconds until it expires. */
  async addRefreshToken(op: Op, token: { id: string; sessionId: string; hash: Buffer; days: number }): Promise<number> {
    const rows: { seconds: number }[] = await op.query(
      `INSERT INTO refresh_token (id, session_id, hash, expires_at)
       SELECT $1, s.id, $3, LEAST(s.expires_at, now() + make_interval(days => $4)) FROM session s WHERE s.id = $2
       RETURNING floor(extract(epoch FROM expires_at - now()))::int AS seconds`,
      [token.id, token.sessionId, token.hash, token.days],
    );
    return rows[0]?.seconds ?? 0;
  }

  /** Locks the token and its session, so that of two uses at once the second sees the first. */
  async lockRefreshToken(op: Op, id: string): Promise<RefreshRow | null> {
    const rows: RefreshRow[] = await op.query(
      `SELECT s.id AS "sessionId", s.user_id AS "userId", r.hash, r.used_at IS NOT NULL AS used,
              (r.expires_at > now() AND s.expires_at > now() AND s.revoked_at IS NULL AND u.enabled) AS valid
       FROM refresh_token r JOIN session s ON s.id = r.session_id JOIN app_user u ON u.id = s.user_id
       WHERE r.id = $1 FOR UPDATE OF r, s`,
      [id],
    );
    return rows[0] ?? null;
  }

  async markUsed(op: Op, id: string): Promise<void> {
    await op.query(`UPDATE refresh_token SET used_at = now() WHERE id = $1`, [id]);
  }

  async revoke(op: Op, id: string, reason: string): Promise<void> {
    await op.query(`UPDATE session SET revoked_at = now(), revoked_reason = $2 WHERE id = $1 AND revoked_at IS NULL`, [
      id,
      reason,
    ]);
    op.afterCommit(() => this.cache.forget(id));
  }

  /** False when the user has no such open session. */
  async revokeOf(op: Op, userId: string, id: string, reason: string): Promise<boolean> {
    const rows: unknown[] = await op.query(
      `WITH ended AS (UPDATE session SET revoked_at = now(), revoked_reason = $3 WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL AND expires_at > now() RETURNING id) SELECT id FROM ended`,
      [id, userId, reason],
    );
    op.afterCommit(() => this.cache.forget(id));
    return rows.length > 0;
  }

  /**
   * Open ones, newest first (ids are ordered by time), `limit` rows after the id `after`. `q` finds by id and address;
   * a user has few, so no index of their addresses is needed.
   */
  async page(op: Op, userId: string, limit: number, after?: string, q?: string): Promise<OpenSession[]> {
    const params: unknown[] = [userId, after ?? null, limit];
    const found =
      q === undefined
        ? 'true'
        : searchCondition(q, { ids: ['s.id'], texts: ['s.remote_address'] }, (value) => `$${params.push(value)}`);
    const rows: (Omit<OpenSession, 'createdAt' | 'lastUsedAt' | 'expiresAt'> &
      Record<'createdAt' | 'lastUsedAt' | 'expiresAt', Date>)[] = await op.query(
      `SELECT s.id, s.remote_address AS "remoteAddress", s.created_at AS "createdAt", s.expires_at AS "expiresAt",
              COALESCE((SELECT max(r.created_at) FROM refresh_token r WHERE r.session_id = s.id), s.created_at) AS "lastUsedAt"
       FROM session s WHERE s.user_id = $1 AND s.revoked_at IS NULL AND s.expires_at > now() AND ($2::uuid IS NULL OR s.id < $2) AND ${found} ORDER BY s.id DESC LIMIT $3`,
      params,
    );
    return rows.map((row) => ({
      ...row,
      createdAt: row.createdAt.toISOString(),
      lastUsedAt: row.lastUsedAt.toISOString(),
      expiresAt: row.expiresAt.toISOString(),
    }));
  }

  /** @param but the session that stays, the caller's own for example */
  async revokeAllOf(op: Op, userId: string, reason: string, but?: string): Promise<void> {
    await op.query(
      `UPDATE session SET revoked_at = now(), revoked_reason = $2 WHERE user_id = $1 AND revoked_at IS NULL AND ($3::uuid IS NULL OR id <> $3)`,
      [userId, reason, but ?? null],
    );
    op.afterCommit(() => this.cache.forget(userId));
  }

  /** Removes what can no longer be used for anything, a bounded number at a time. */
  async prune(op: Op): Promise<void> {
    await op.query(
      `DELETE FROM session WHERE id IN (SELECT id FROM session WHERE expires_at < now() ORDER BY expires_at LIMIT 5000)`,
    );
    await op.query(
      `DELETE FROM refresh_token WHERE id IN (SELECT id FROM refresh_token WHERE expires_at < now() ORDER BY expires_at LIMIT 5000)`,
    );
  }
}
