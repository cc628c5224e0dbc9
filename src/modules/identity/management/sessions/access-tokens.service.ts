import { randomUUID } from 'node:crypto';
import { injectable } from 'inversify';
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import { Config } from '../../../../core/config/config';
import { looksLikeId } from '../../../../core/http/routes/fields';
import type { IdentityConfig } from '../../contract/identity.config';
import { signingAlgorithm, SigningKeys } from './signing-keys.service';

/** RFC 9068. The type and the audience bind a token to its one purpose. */
const tokenType = 'at+jwt';
const issuer = 'vc-stack';
const audience = 'vc-stack/api';
/** This process's clock has no say in what is expired. */
const neverExpired = new Date(0);

@injectable()
export class AccessTokens {
  constructor(
    private readonly keys: SigningKeys,
    private readonly config: Config,
  ) {}

  /**
   * Opens its own transaction when a signing key is due: call it outside of any.
   * @param now seconds since 1970 on the database's clock, which all processes share
   */
  async issue(userId: string, sessionId: string, now: number): Promise<{ token: string; expiresIn: number }> {
    const { id, key } = await this.keys.current();
    const expiresIn = this.config.section<IdentityConfig>('identity').accessTokenSeconds;
    const token = await new SignJWT({ sid: sessionId })
      .setProtectedHeader({ alg: signingAlgorithm, kid: id, typ: tokenType })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(userId)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(now + expiresIn)
      .sign(key);
    return { token, expiresIn };
  }

  /**
   * Whose session a token names; null for anything that is not an access token of ours. Looks neither at the session
   * nor at the clock: `expiresAt`, in seconds since 1970, is for the database to compare.
   */
  async verify(token: string): Promise<{ userId: string; sessionId: string; expiresAt: number } | null> {
    const kid = keyIdOf(token);
    const key = kid === null ? null : await this.keys.verification(kid);
    if (!key) return null;
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [signingAlgorithm],
        typ: tokenType,
        issuer,
        audience,
        requiredClaims: ['exp', 'sub', 'sid'],
        currentDate: neverExpired,
      });
      const { sub, sid, exp } = payload;
      return typeof sub === 'string' &&
        looksLikeId(sub) &&
        typeof sid === 'string' &&
        looksLikeId(sid) &&
        exp !== undefined
        ? { userId: sub, sessionId: sid, expiresAt: exp }
        : null;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }
}

const keyIdOf = (token: string): string | null => {
  try {
    const { kid } = decodeProtectedHeader(token);
    return typeof kid === 'string' ? kid : null;
  } catch {
    return null;
  }
};
