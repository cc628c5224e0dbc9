import { injectable } from 'inversify';
import { z } from 'zod';
import { decodeCursor, pageFrom } from '../../../../core/db/rows/cursor';
import type { Op } from '../../../../core/db/rows/op';
import { notFound } from '../../../../core/errors/problem';
import { looksLikeId } from '../../../../core/http/routes/fields';
import type { Page, PageRequest } from '../../../../core/http/routes/pagination';
import { Logging } from '../../../../core/telemetry/logging';
import type { ApiToken, Session } from '../../contract/identity.api';
import { ApiTokenRepository } from '../api-tokens/api-token.repository';
import { presentApiToken } from '../api-tokens/api-token.service';
import { SessionRepository } from '../sessions/session.repository';
import type { UserEntity } from './user.entity';
import { UserRepository } from './user.repository';

const afterId = z.tuple([z.uuid()]);

/** The sessions and API tokens of any user, for administrators. What ends here is refused from the commit on. */
@injectable()
export class UserAccessService {
  constructor(
    private readonly users: UserRepository,
    private readonly sessions: SessionRepository,
    private readonly apiTokens: ApiTokenRepository,
    private readonly logging: Logging,
  ) {}

  /** Open sessions, newest first. */
  async listSessions(op: Op, userRef: string, page: PageRequest): Promise<Page<Session>> {
    const user = await this.user(op, userRef);
    const rows = await this.sessions.page(op, user.id, page.limit + 1, decodeCursor(page.cursor, afterId)?.[0], page.q);
    return pageFrom(rows, page.limit, (session) => [session.id]);
  }

  async endSession(op: Op, userRef: string, sessionId: string): Promise<void> {
    const user = await this.user(op, userRef);
    if (!(await this.sessions.revokeOf(op, user.id, sessionId, 'revoked_by_admin')))
      throw notFound('session', sessionId);
    this.logging.for('identity').info({ userId: user.id, sessionId }, 'an administrator ended a session');
  }

  async endAllSessions(op: Op, userRef: string): Promise<void> {
    const user = await this.user(op, userRef);
    await this.sessions.revokeAllOf(op, user.id, 'revoked_by_admin');
    this.logging.for('identity').info({ userId: user.id }, 'an administrator ended all sessions of a user');
  }

  /** Newest first. */
  async listApiTokens(op: Op, userRef: string, page: PageRequest): Promise<Page<ApiToken>> {
    const user = await this.user(op, userRef);
    const rows = await this.apiTokens.page(
      op,
      user.id,
      page.limit + 1,
      decodeCursor(page.cursor, afterId)?.[0],
      page.q,
    );
    const { items, next } = pageFrom(rows, page.limit, (token) => [token.id]);
    return { items: items.map(presentApiToken), next };
  }

  /** @param tokenRef id or name */
  async deleteApiToken(op: Op, userRef: string, tokenRef: string): Promise<void> {
    const user = await this.user(op, userRef);
    const gone = await this.apiTokens.delete(
      op,
      user.id,
      looksLikeId(tokenRef) ? { id: tokenRef.toLowerCase() } : { name: tokenRef },
    );
    if (!gone) throw notFound('API token', tokenRef);
    this.logging.for('identity').info({ userId: user.id, token: tokenRef }, 'an administrator deleted an API token');
  }

  private async user(op: Op, ref: string): Promise<UserEntity> {
    const user = await this.users.byRef(op, ref);
    if (!user) throw notFound('user', ref);
    return user;
  }
}
