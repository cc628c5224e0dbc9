import type { IncomingMessage } from 'node:http';
import { injectable } from 'inversify';
import { Problem } from '../errors/problem';
import { Authenticator } from './authenticator';
import { SecretLimiter } from '../http/secret-limiter';
import type { Principal } from './principal';

/** 401: no credential, or one that is malformed, expired, revoked or unknown. The answer does not tell which. */
export const unauthenticated = (): Problem =>
  new Problem({ status: 401, code: 'unauthenticated', detail: 'This needs a valid access token or API token.' });

/** Longer credentials are nobody's, and are not looked at. In characters. */
const maxLength = 8192;

/** The credential of an `Authorization: Bearer` header; undefined when there is none that could be one. */
const bearerOf = (header: string | undefined): string | undefined => {
  // From its beginning only: looked for at each place, a header without a space takes its length squared.
  const [, scheme, credential] = header === undefined ? [] : (/^\s*(\S+)\s+(\S+)/.exec(header) ?? []);
  if (scheme?.toLowerCase() !== 'bearer' || credential === undefined || credential.length > maxLength) return undefined;
  return /^[\x21-\x7e]+$/.test(credential) ? credential : undefined;
};

/**
 * A signed token is no secret that could be guessed, and one that has expired is shown by every client once in a while.
 */
const isSigned = (credential: string): boolean => credential.split('.').length === 3;

/** The identity of a request: access tokens and API tokens alike, which the `Authenticator` judges. */
@injectable()
export class BearerAuthentication {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly limiter: SecretLimiter,
  ) {}

  /**
   * The caller. Throws 401 `unauthenticated`; 429 `too_many_attempts` for the latest of many wrong tokens of an
   * address.
   */
  async principal(req: IncomingMessage): Promise<Principal> {
    const { authorization } = req.headers;
    const credential = bearerOf(authorization);
    const principal = credential === undefined ? null : await this.authenticator.authenticate(credential);
    return principal ?? this.refuse(authorization, req.socket.remoteAddress);
  }

  /** The same for a token that comes otherwise than in a request's header, from `address`. */
  async principalOf(token: string, address: string | undefined): Promise<Principal> {
    return (await this.authenticator.authenticate(token)) ?? this.refuse(token, address);
  }

  private async refuse(credential: string | undefined, address = ''): Promise<never> {
    if (credential !== undefined && !isSigned(credential)) await this.limiter.failed(address);
    throw unauthenticated();
  }
}
