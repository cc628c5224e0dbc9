import type { Request } from 'express';
import { Strategy } from 'passport';
import { ExtractJwt } from 'passport-jwt';
import type { Authenticator } from './authenticator';

/** Longer credentials are nobody's, and are not looked at. In characters. */
const maxLength = 8192;

/**
 * Takes the credential from `Authorization: Bearer` and lets the `Authenticator` judge it: access tokens and API tokens
 * alike.
 */
export class BearerStrategy extends Strategy {
  override readonly name = 'bearer';
  private readonly extract = ExtractJwt.fromAuthHeaderAsBearerToken();

  constructor(private readonly authenticator: Authenticator) {
    super();
  }

  override authenticate(req: Request): void {
    const bearer = this.extract(req);
    if (!bearer || bearer.length > maxLength || !/^[\x21-\x7e]+$/.test(bearer)) return this.fail(401);
    this.authenticator.authenticate(bearer).then(
      (principal) => (principal ? this.success(principal) : this.fail(401)),
      (error: unknown) =>
        this.error(error instanceof Error ? error : new Error('authentication failed', { cause: error })),
    );
  }
}
