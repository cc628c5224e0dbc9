import { injectable } from 'inversify';
import type { Credential, Membership } from '../../../../core/auth/principal';
import type { Op } from '../../../../core/db/rows/op';

interface UserRow {
  userId: string;
  name: string;
  admin: boolean;
  memberships: Membership[];
}

export interface HoldingRow extends UserRow {
  /** Until the credential ends by itself; null: never. */
  seconds: number | null;
}

export interface ApiTokenRow extends HoldingRow {
  hash: Buffer;
  scopes: string[] | null;
  /** Its last use is not recorded yet, or longer ago than a minute. */
  stale: boolean;
}

export interface CurrentRow extends UserRow {
  via: Credential['via'];
  /** Of the session or the API token. */
  credentialId: string;
  scopes: string[] | null;
  /** Seconds since 1970. */
  now: number;
}

const memberships = `COALESCE((SELECT json_agg(json_build_object('projectId', m.project_id, 'role', m.role)) FROM project_member m WHERE m.user_id = u.id), '[]'::json) AS memberships`;

/** Who is behind a credential, in one indexed statement. */
@injectable()
export class PrincipalRepository {
  /**
   * Null when the session was revoked or expired, its user is disabled, or the token that names it has expired (seconds
   * since 1970).
   */
  async ofSession(op: Op, sessionId: string, userId: string, tokenExpiresAt: number): Promise<HoldingRow | null> {
    const rows: HoldingRow[] = await op.query(
      `SELECT u.id AS "userId", u.name, u.admin, ${memberships},
              extract(epoch FROM LEAST(s.expires_at, to_timestamp($3::float8)) - now())::float8 AS seconds
       FROM session s JOIN app_user u ON u.id = s.user_id
       WHERE s.id = $1 AND s.user_id = $2 AND s.revoked_at IS NULL AND s.expires_at > now() AND u.enabled AND to_timestamp($3::float8) > now()`,
      [sessionId, userId, tokenExpiresAt],
    );
    return rows[0] ?? null;
  }

  /** Null when the token is unknown or expired, or its user is disabled. */
  async ofApiToken(op: Op, tokenId: string): Promise<ApiTokenRow | null> {
    const rows: ApiTokenRow[] = await op.query(
      `SELECT u.id AS "userId", u.name, u.admin, t.hash, t.scopes, ${memberships}, extract(epoch FROM t.expires_at - now())::float8 AS seconds,
              (t.last_used_at IS NULL OR t.last_used_at < now() - interval '1 minute') AS stale
       FROM api_token t JOIN app_user u ON u.id = t.user_id
       WHERE t.id = $1 AND (t.expires_at IS NULL OR t.expires_at > now()) AND u.enabled`,
      [tokenId],
    );
    return rows[0] ?? null;
  }

  /** Those of the sessions and tokens that have not ended, with who is behind them. */
  ofCredentials(op: Op, credentials: readonly Credential[]): Promise<CurrentRow[]> {
    const ids = (via: Credential['via']): string[] => credentials.filter((c) => c.via === via).map((c) => c.id);
    return op.query(
      `SELECT 'session' AS via, s.id AS "credentialId", u.id AS "userId", u.name, u.admin, NULL::text[] AS scopes, ${memberships}, extract(epoch FROM now())::float8 AS now
       FROM session s JOIN app_user u ON u.id = s.user_id
       WHERE s.id = ANY($1::uuid[]) AND s.revoked_at IS NULL AND s.expires_at > now() AND u.enabled
       UNION ALL
       SELECT 'api-token', t.id, u.id, u.name, u.admin, t.scopes, ${memberships}, extract(epoch FROM now())::float8
       FROM api_token t JOIN app_user u ON u.id = t.user_id
       WHERE t.id = ANY($2::uuid[]) AND (t.expires_at IS NULL OR t.expires_at > now()) AND u.enabled`,
      [ids('session'), ids('api-token')],
    );
  }
}
