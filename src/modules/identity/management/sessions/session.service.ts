import { injectable } from 'inversify';
import { v7 as uuid } from 'uuid';
import type { Principal } from '../../../../core/auth/principal';
import { Config } from '../../../../core/config/config';
import { Database } from '../../../../core/db/database';
import type { Op } from '../../../../core/db/rows/op';
import { Problem, unprocessable } from '../../../../core/errors/problem';
import { SecretLimiter } from '../../../../core/http/secret-limiter';
import { Logging } from '../../../../core/telemetry/logging';
import { userName, type Tokens } from '../../contract/identity.api';
import type { IdentityConfig } from '../../contract/identity.config';
import { AccessTokens } from './access-tokens.service';
import { ApiTokenRepository } from '../api-tokens/api-token.repository';
import { PasswordHasher } from '../users/password-hasher';
import { makeToken, parseToken, secretMatches, type ParsedToken } from '../secret-token';
import { SessionRepository, type RefreshRow } from './session.repository';
import { UserRepository } from '../users/user.repository';

const refreshPrefix = 'vcr';

interface NewRefreshToken {
  refreshToken: string;
  /** Seconds. */
  refreshExpiresIn: number;
}

/** Logins and what follows from them. */
@injectable()
export class SessionService {
  constructor(
    private readonly database: Database,
    private readonly users: UserRepository,
    private readonly sessions: SessionRepository,
    private readonly apiTokens: ApiTokenRepository,
    private readonly hasher: PasswordHasher,
    private readonly accessTokens: AccessTokens,
    private readonly config: Config,
    private readonly logging: Logging,
    private readonly limiter: SecretLimiter,
  ) {}

  /**
   * Opens a session. 401 `invalid_credentials`, the same for an unknown name, a wrong password and a disabled user. 429
   * `too_many_attempts`. Hashing takes tens of milliseconds, so no transaction is open meanwhile.
   */
  async login(name: string, password: string, remoteAddress: string): Promise<Tokens> {
    await this.limiter.attempt(remoteAddress, name);
    const user = userName.safeParse(name).success ? await this.users.byName(this.database.op, name) : null;
    const matches = await this.hasher.verify(user?.passwordHash ?? null, password, {
      address: remoteAddress,
      user: name,
    });
    if (!user || !matches || !user.enabled) {
      this.logging.for('identity').warn({ remoteAddress, userId: user?.id }, 'login refused');
      throw invalidCredentials();
    }
    const sessionId = uuid();
    const access = await this.accessTokens.issue(user.id, sessionId, await this.sessions.now(this.database.op));
    const refresh = await this.database.tx(async (op) => {
      const open = await this.sessions.open(op, {
        id: sessionId,
        userId: user.id,
        passwordHash: user.passwordHash,
        days: this.settings().sessionDays,
        remoteAddress,
      });
      if (!open) throw invalidCredentials();
      return this.newRefreshToken(op, sessionId);
    });
    await this.limiter.succeeded(remoteAddress, name);
    this.logging.for('identity').info({ remoteAddress, userId: user.id, sessionId }, 'login');
    return { accessToken: access.token, expiresIn: access.expiresIn, ...refresh };
  }

  /**
   * Exchanges a refresh token for new tokens, once. 401 `invalid_refresh_token`; a second use means that somebody else
   * has it: 401 `refresh_token_reused`, and the whole session is revoked. The revocation must commit, so this opens its
   * own transaction. 429 `too_many_attempts` for the latest of many wrong ones of an address.
   */
  async refresh(token: string, remoteAddress: string): Promise<Tokens> {
    const parsed = parseToken(refreshPrefix, token);
    const outcome = parsed ? await this.exchange(parsed) : ('invalid' as const);
    if (outcome === 'invalid') {
      await this.limiter.failed(remoteAddress);
      throw invalidRefreshToken();
    }
    if (outcome === 'reused')
      throw new Problem({
        status: 401,
        code: 'refresh_token_reused',
        detail: 'This refresh token was used before. The session has been ended; log in again.',
      });
    const access = await this.accessTokens.issue(
      outcome.row.userId,
      outcome.row.sessionId,
      await this.sessions.now(this.database.op),
    );
    return { accessToken: access.token, expiresIn: access.expiresIn, ...outcome.refresh };
  }

  private exchange(parsed: ParsedToken): Promise<'invalid' | 'reused' | { row: RefreshRow; refresh: NewRefreshToken }> {
    return this.database.tx(async (op) => {
      const row = await this.sessions.lockRefreshToken(op, parsed.id);
      if (!row || !secretMatches(parsed.secret, row.hash) || !row.valid) return 'invalid';
      if (row.used) {
        await this.sessions.revoke(op, row.sessionId, 'refresh_token_reused');
        this.logging
          .for('identity')
          .warn({ userId: row.userId, sessionId: row.sessionId }, 'refresh token used twice, session revoked');
        return 'reused';
      }
      await this.sessions.markUsed(op, parsed.id);
      return { row, refresh: await this.newRefreshToken(op, row.sessionId) };
    });
  }

  /** Ends the caller's session; an API token has none, so nothing happens. */
  async logout(op: Op, principal: Principal): Promise<void> {
    if (principal.via === 'session') await this.sessions.revoke(op, principal.sessionId, 'logout');
  }

  /**
   * Sets the caller's own password and ends its other sessions; on request its API tokens too. 422 `wrong_password`
   * when `current` is wrong, 429 `too_many_attempts` after as many wrong ones as a login allows. Hashes outside of any
   * transaction.
   */
  async changePassword(
    principal: Principal,
    change: { current: string; password: string; revokeApiTokens: boolean },
    remoteAddress: string,
  ): Promise<void> {
    requireSession(principal);
    await this.limiter.attemptOfCaller(remoteAddress, principal.name);
    const asker = { address: remoteAddress, user: principal.name };
    const user = await this.users.byId(this.database.op, principal.id);
    if (!user || !(await this.hasher.verify(user.passwordHash, change.current, asker)))
      throw unprocessable('body.current', 'wrong_password', 'The current password is wrong.');
    const passwordHash = await this.hasher.hash(change.password, asker);
    await this.database.tx(async (op) => {
      await this.users.update(op, user.id, { passwordHash });
      await this.sessions.revokeAllOf(op, user.id, 'password_changed', principal.sessionId);
      if (change.revokeApiTokens) await this.apiTokens.deleteAllOf(op, user.id);
    });
    await this.limiter.succeeded(remoteAddress, principal.name);
    this.logging
      .for('identity')
      .info({ userId: user.id, remoteAddress, apiTokensRevoked: change.revokeApiTokens }, 'password changed');
  }

  private async newRefreshToken(op: Op, sessionId: string): Promise<NewRefreshToken> {
    const { id, token, hash } = makeToken(refreshPrefix);
    const refreshExpiresIn = await this.sessions.addRefreshToken(op, {
      id,
      sessionId,
      hash,
      days: this.settings().refreshTokenDays,
    });
    return { refreshToken: token, refreshExpiresIn };
  }

  private settings(): IdentityConfig {
    return this.config.section<IdentityConfig>('identity');
  }
}

/** 403 `session_required`: a stolen API token must not be able to make more of itself or to lock its owner out. */
export const requireSession = (principal: Principal): void => {
  if (principal.via !== 'session')
    throw new Problem({
      status: 403,
      code: 'session_required',
      detail: 'This needs a login; an API token cannot do it.',
    });
};

const invalidCredentials = (): Problem =>
  new Problem({ status: 401, code: 'invalid_credentials', detail: 'The name or the password is wrong.' });
const invalidRefreshToken = (): Problem =>
  new Problem({
    status: 401,
    code: 'invalid_refresh_token',
    detail: 'This refresh token is not valid or has expired. Log in again.',
  });
