import type { Request, Response } from 'express';
import { injectable } from 'inversify';
import { Passport } from 'passport';
import { Problem } from '../errors/problem';
import { Authenticator } from './authenticator';
import { BearerStrategy } from './bearer.strategy';
import { SecretLimiter } from '../http/secret-limiter';
import type { Principal } from './principal';

/** 401: no credential, or one that is malformed, expired, revoked or unknown. The answer does not tell which. */
export const unauthenticated = (): Problem =>
  new Problem({ status: 401, code: 'unauthenticated', detail: 'This needs a valid access token or API token.' });

/**
 * A signed token is no secret that could be guessed, and one that has expired is shown by every client once in a while.
 */
const isSigned = (credential: string): boolean => credential.split('.').length === 3;

/** The identity of a request. */
@injectable()
export class BearerAuthentication {
  private readonly passport = new Passport();

  constructor(
    private readonly authenticator: Authenticator,
    private readonly limiter: SecretLimiter,
  ) {
    this.passport.use(new BearerStrategy(authenticator));
  }

  /**
   * The caller. Throws 401 `unauthenticated`; 429 `too_many_attempts` for the latest of many wrong tokens of an
   * address.
   */
  async principal(req: Request, res: Response): Promise<Principal> {
    const principal = await this.passed(req, res);
    if (principal) return principal;
    return this.refuse(req.headers.authorization, req.socket.remoteAddress);
  }

  /** The same for a token that comes otherwise than in a request's header, from `address`. */
  async principalOf(token: string, address: string | undefined): Promise<Principal> {
    return (await this.authenticator.authenticate(token)) ?? this.refuse(token, address);
  }

  private async refuse(credential: string | undefined, address = ''): Promise<never> {
    if (credential !== undefined && !isSigned(credential)) await this.limiter.failed(address);
    throw unauthenticated();
  }

  private passed(req: Request, res: Response): Promise<Principal | null> {
    return new Promise((resolve, reject) => {
      const done = (error: unknown, principal: Principal | false | null | undefined): void => {
        if (error) reject(error instanceof Error ? error : new Error('authentication failed', { cause: error }));
        else resolve(principal || null);
      };
      const middleware = this.passport.authenticate('bearer', { session: false }, done) as (
        req: Request,
        res: Response,
        next: (error?: unknown) => void,
      ) => void;
      middleware(req, res, (error) => done(error, null));
    });
  }
}
