import { hash } from 'node:crypto';
import { injectable } from 'inversify';
import { Authenticator, type ProjectRef } from '../../../../core/auth/authenticator';
import type { Credential, Principal } from '../../../../core/auth/principal';
import { Database } from '../../../../core/db/database';
import { notFound, Problem } from '../../../../core/errors/problem';
import { AccessTokens } from '../sessions/access-tokens.service';
import { ApiTokenRepository } from '../api-tokens/api-token.repository';
import { AuthorityCache, type Known } from './authority-cache';
import { type HoldingRow, PrincipalRepository } from './principal.repository';
import { ProjectRepository } from '../projects/project.repository';
import { parseToken, secretMatches } from '../secret-token';

export const apiTokenPrefix = 'vcs';
/** Longer than any credential we give out. */
const maxBearerLength = 2048;

@injectable()
export class IdentityAuthenticator extends Authenticator {
  constructor(
    private readonly database: Database,
    private readonly accessTokens: AccessTokens,
    private readonly principals: PrincipalRepository,
    private readonly apiTokens: ApiTokenRepository,
    private readonly projects: ProjectRepository,
    private readonly cache: AuthorityCache,
  ) {
    super();
  }

  override async authenticate(bearer: string): Promise<Principal | null> {
    if (bearer.length === 0 || bearer.length > maxBearerLength) return null;
    return this.cache.through(`bearer ${hash('sha256', bearer, 'base64url')}`, () =>
      bearer.startsWith(`${apiTokenPrefix}_`) ? this.byApiToken(bearer) : this.byAccessToken(bearer),
    );
  }

  override async current(credentials: readonly Credential[]): Promise<(Principal | null)[]> {
    if (credentials.length === 0) return [];
    const rows = new Map(
      (await this.principals.ofCredentials(this.database.op, credentials)).map((row) => [
        `${row.via} ${row.credentialId}`,
        row,
      ]),
    );
    return credentials.map(({ via, id, userId, expiresAt }) => {
      const row = rows.get(`${via} ${id}`);
      if (!row || row.userId !== userId || (expiresAt !== undefined && expiresAt <= row.now)) return null;
      return {
        kind: 'user',
        id: userId,
        name: row.name,
        systemRoles: row.admin ? ['admin'] : [],
        memberships: row.memberships,
        sessionId: id,
        via,
        expiresAt,
        tokenScopes: row.scopes,
      };
    });
  }

  override async resolveProject(principal: Principal, ref: string | undefined): Promise<ProjectRef> {
    return ref === undefined ? this.onlyProject(principal) : this.visibleProject(principal, ref);
  }

  private async byAccessToken(bearer: string): Promise<Known<Principal> | null> {
    const claims = await this.accessTokens.verify(bearer);
    if (!claims) return null;
    const row = await this.principals.ofSession(
      this.database.requestOp,
      claims.sessionId,
      claims.userId,
      claims.expiresAt,
    );
    if (!row) return null;
    return known(row, {
      kind: 'user',
      id: row.userId,
      name: row.name,
      systemRoles: row.admin ? ['admin'] : [],
      memberships: row.memberships,
      sessionId: claims.sessionId,
      via: 'session',
      expiresAt: claims.expiresAt,
      tokenScopes: null,
    });
  }

  private async byApiToken(bearer: string): Promise<Known<Principal> | null> {
    const parsed = parseToken(apiTokenPrefix, bearer);
    if (!parsed) return null;
    const row = await this.principals.ofApiToken(this.database.requestOp, parsed.id);
    if (!row || !secretMatches(parsed.secret, row.hash)) return null;
    if (row.stale) await this.apiTokens.touch(this.database.requestOp, parsed.id);
    return known(row, {
      kind: 'user',
      id: row.userId,
      name: row.name,
      systemRoles: row.admin ? ['admin'] : [],
      memberships: row.memberships,
      sessionId: parsed.id,
      via: 'api-token',
      tokenScopes: row.scopes,
    });
  }

  private async visibleProject(principal: Principal, ref: string): Promise<ProjectRef> {
    const safe = ref.length <= 255 && !ref.includes('\u0000');
    const project = safe ? await this.project(ref) : null;
    if (!project || !sees(principal, project.id)) throw notFound('project', ref);
    return project;
  }

  /** What it means, whoever asks. */
  private project(ref: string): Promise<ProjectRef | null> {
    return this.cache.through(`project ${ref}`, async () => {
      const found = await this.projects.byRef(this.database.requestOp, ref);
      return found && { value: { id: found.id, name: found.name }, ids: [found.id], seconds: null };
    });
  }

  /** The only project that the caller is a member of; for admins without any membership, the only one there is. */
  private async onlyProject(principal: Principal): Promise<ProjectRef> {
    const ids = principal.memberships.map((m) => m.projectId);
    const [only, ...others] = ids;
    const known = only === undefined || others.length > 0 ? null : await this.project(only);
    if (known) return known;
    const found =
      ids.length > 0 || !principal.systemRoles.includes('admin')
        ? await this.projects.byIds(this.database.requestOp, ids.slice(0, 2))
        : await this.projects.page(this.database.requestOp, 'all', 2);
    const [project, second] = found;
    if (project && !second) return { id: project.id, name: project.name };
    const message = project
      ? 'Several projects are possible: name one with ?project=.'
      : 'You are not a member of any project.';
    throw new Problem({
      status: 400,
      code: 'project_required',
      detail: message,
      errors: [{ path: 'query.project', code: 'project_required', message }],
    });
  }
}

/** Shared by requests that have nothing to do with each other: nobody may change it. */
const known = (row: HoldingRow, principal: Principal): Known<Principal> => {
  for (const membership of principal.memberships) Object.freeze(membership);
  Object.freeze(principal.memberships);
  Object.freeze(principal.systemRoles);
  Object.freeze(principal.tokenScopes);
  return { value: Object.freeze(principal), ids: [row.userId, principal.sessionId], seconds: row.seconds };
};

const sees = (principal: Principal, projectId: string): boolean =>
  principal.systemRoles.includes('admin') || principal.memberships.some((m) => m.projectId === projectId);
