import { randomUUID } from 'node:crypto';
import { injectable } from 'inversify';
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import { Config } from '../../../core/config/config';
import { looksLikeId } from '../../../core/http/fields';
import type { IdentityConfig } from '../contract/identity.config';
import { signingAlgorithm, SigningKeys } from './signing-keys.service';

/** RFC 9068. The type and the audience bind a token to its one purpose. */
const tokenType = 'at+jwt';
const issuer = 'vc-stack';
const audience = 'vc-stack/api';

@injectable()
export class AccessTokens {
  constructor(
    private readonly keys: SigningKeys,
    private readonly config: Config,
  ) {}

  /** Opens its own transaction when a signing key is due: call it outside of any. */
  async issue(userId: string, sessionId: string): Promise<{ token: string; expiresIn: number }> {
    const { id, key } = await this.keys.current();
    const expiresIn = this.config.section<IdentityConfig>('identity').accessTokenSeconds;
    const now = Math.floor(Date.now() / 1000);
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

  /** Whose session a token names; null for anything that is not a valid access token of ours. Does not look at the session. */
  async verify(token: string): Promise<{ userId: string; sessionId: string } | null> {
    const kid = keyIdOf(token);
    const key = kid === null ? null : await this.keys.verification(kid);
    if (!key) return null;
    try {
      const { payload } = await jwtVerify(token, key, { algorithms: [signingAlgorithm], typ: tokenType, issuer, audience, requiredClaims: ['exp', 'sub', 'sid'], clockTolerance: 5 });
      const { sub, sid } = payload;
      return typeof sub === 'string' && looksLikeId(sub) && typeof sid === 'string' && looksLikeId(sid) ? { userId: sub, sessionId: sid } : null;
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
