import { injectable } from 'inversify';
import { z } from 'zod';
import { PermissionCatalogue } from '../../../../core/auth/permissions/permission-catalogue';
import type { Principal } from '../../../../core/auth/principal';
import type { Op } from '../../../../core/db/rows/op';
import { Problem, conflict, nameTaken, notFound } from '../../../../core/errors/problem';
import { decodeCursor, pageFrom } from '../../../../core/db/rows/cursor';
import { looksLikeId } from '../../../../core/http/routes/fields';
import type { Page, PageRequest } from '../../../../core/http/routes/pagination';
import type { ApiToken } from '../../contract/identity.api';
import type { ApiTokenEntity } from './api-token.entity';
import { ApiTokenRepository } from './api-token.repository';
import { apiTokenPrefix } from '../authority/identity-authenticator';
import { makeToken } from '../secret-token';
import { requireSession } from '../sessions/session.service';

/** Tokens of one user at most. */
const maxTokens = 100;

/** A user's own API tokens. Only a login may manage them. */
@injectable()
export class ApiTokenService {
  constructor(
    private readonly tokens: ApiTokenRepository,
    private readonly permissions: PermissionCatalogue,
  ) {}

  async list(op: Op, principal: Principal, page: PageRequest): Promise<Page<ApiToken>> {
    requireSession(principal);
    const after = decodeCursor(page.cursor, z.tuple([z.uuid()]));
    const rows = await this.tokens.page(op, principal.id, page.limit + 1, after?.[0], page.q);
    const { items, next } = pageFrom(rows, page.limit, (token) => [token.id]);
    return { items: items.map(presentApiToken), next };
  }

  /**
   * The answer holds the token, which is not stored and never shown again. 409 `name_taken`, 409 `too_many_tokens`, 422
   * `unknown_permission`.
   */
  async create(
    op: Op,
    principal: Principal,
    request: { name: string; scopes: string[] | null; expiresInDays: number | null },
  ): Promise<ApiToken & { token: string }> {
    requireSession(principal);
    this.requireKnown(request.scopes ?? []);
    if ((await this.tokens.count(op, principal.id)) >= maxTokens)
      throw conflict('too_many_tokens', `A user has at most ${maxTokens} API tokens. Delete one first.`);
    const { id, token, hash } = makeToken(apiTokenPrefix);
    const created = await this.tokens.insert(op, { id, userId: principal.id, hash, ...request });
    if (!created) throw nameTaken('API token', request.name);
    return { ...presentApiToken(created), token };
  }

  /** A scope that nothing asks for is a slip of the pen, and a token that then lacks what it needs is found late. */
  private requireKnown(scopes: readonly string[]): void {
    const errors = scopes.flatMap((scope, i) =>
      this.permissions.knows(scope)
        ? []
        : [{ path: `body.scopes.${i}`, code: 'unknown_permission', message: `There is no permission ${scope}.` }],
    );
    const [first] = errors;
    if (first)
      throw new Problem({
        status: 422,
        code: 'unknown_permission',
        detail: first.message,
        errors,
        extra: { permissions: this.permissions.all() },
      });
  }

  /** @param ref id or name */
  async delete(op: Op, principal: Principal, ref: string): Promise<void> {
    requireSession(principal);
    const gone = await this.tokens.delete(
      op,
      principal.id,
      looksLikeId(ref) ? { id: ref.toLowerCase() } : { name: ref },
    );
    if (!gone) throw notFound('API token', ref);
  }
}

/** As it is listed: never its secret. */
export const presentApiToken = (token: ApiTokenEntity): ApiToken => ({
  id: token.id,
  name: token.name,
  scopes: token.scopes,
  createdAt: token.createdAt.toISOString(),
  expiresAt: token.expiresAt?.toISOString() ?? null,
  lastUsedAt: token.lastUsedAt?.toISOString() ?? null,
});
