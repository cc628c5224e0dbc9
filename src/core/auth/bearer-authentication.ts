import type { Request, Response } from 'express';
import { injectable } from 'inversify';
import { Passport } from 'passport';
import { Problem } from '../errors/problem';
import { Authenticator } from './authenticator';
import { BearerStrategy } from './bearer.strategy';
import type { Principal } from './principal';

/** 401: no credential, or one that is malformed, expired, revoked or unknown. The answer does not tell which. */
export const unauthenticated = (): Problem => new Problem({ status: 401, code: 'unauthenticated', detail: 'This needs a valid access token or API token.' });

/** The identity of a request. */
@injectable()
export class BearerAuthentication {
  private readonly passport = new Passport();

  constructor(authenticator: Authenticator) {
    this.passport.use(new BearerStrategy(authenticator));
  }

  /** The caller. Throws 401 `unauthenticated`. */
  principal(req: Request, res: Response): Promise<Principal> {
    return new Promise((resolve, reject) => {
      const done = (error: unknown, principal: Principal | false | null | undefined): void => {
        if (error) reject(error instanceof Error ? error : new Error('authentication failed', { cause: error }));
        else if (principal) resolve(principal);
        else reject(unauthenticated());
      };
      const middleware = this.passport.authenticate('bearer', { session: false }, done) as (req: Request, res: Response, next: (error?: unknown) => void) => void;
      middleware(req, res, (error) => done(error, null));
    });
  }
}
