import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { notFound, Problem } from '../../../../core/errors/problem';
import { looksLikeId } from '../../../../core/http/routes/fields';
import type { Page, PageRequest } from '../../../../core/http/routes/pagination';
import { CertificateAuthority } from '../../../../core/m2m/ca/certificate-authority';
import { encodeToken } from '../../../../core/m2m/enrolment-token';
import { ManagementEndpoint } from '../../../../core/m2m/management-endpoint';
import type { HostTokenInfo } from '../../contract/host.api';
import type { HostTokenEntity } from './host-token.entity';
import { HostTokenRepository, type LockedToken } from './host-token.repository';

export interface IssuedToken {
  id: string;
  token: string;
  expiresAt: string;
  command: string;
}

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
const refusal = (code: string, detail: string): Problem => new Problem({ status: 401, code, detail });

/** One-time tokens with which hosts join. The secret has 256 random bits, so a plain hash of it is enough. */
@injectable()
export class HostTokenService {
  constructor(
    private readonly tokens: HostTokenRepository,
    private readonly authority: CertificateAuthority,
    private readonly endpoint: ManagementEndpoint,
  ) {}

  /** @param minutes life; it is good for one host @param createdBy principal id, or `system` */
  async issue(op: Op, minutes: number, createdBy: string): Promise<IssuedToken> {
    await this.tokens.purge(op);
    const id = randomUUID();
    const secret = randomBytes(32).toString('base64url');
    const expiresAt = await this.tokens.insert(op, { id, secretHash: hashOf(secret), createdBy, minutes });
    const { address, nodePort } = this.endpoint;
    const token = encodeToken({
      address,
      port: nodePort,
      rootFingerprint: await this.authority.fingerprint(),
      ticket: `${id}.${secret}`,
    });
    return {
      id,
      token,
      expiresAt: expiresAt.toISOString(),
      command: `sudo VC_STACK_COMPUTE__TOKEN=${token} vc-stack compute`,
    };
  }

  /**
   * Locks the token of a ticket. Throws 401 `token_unknown` or `token_expired`. Whether it was used is the caller's to
   * judge.
   */
  async redeem(op: Op, ticket: string): Promise<LockedToken> {
    const unknown = refusal('token_unknown', 'The enrolment token is not known here. Make a new one.');
    const [id, secret, rest] = ticket.split('.');
    if (!id || !secret || rest !== undefined || !looksLikeId(id)) throw unknown;
    const token = await this.tokens.lock(op, id.toLowerCase());
    if (!token || !timingSafeEqual(Buffer.from(token.secretHash), Buffer.from(hashOf(secret)))) throw unknown;
    if (token.expired && token.usedAt === null)
      throw refusal('token_expired', 'The enrolment token has expired. Make a new one.');
    return token;
  }

  async markUsed(op: Op, id: string, keyHash: string, hostId: string): Promise<void> {
    await this.tokens.markUsed(op, id, keyHash, hostId);
  }

  async list(op: Op, request: PageRequest): Promise<Page<HostTokenInfo>> {
    const { rows, next } = await this.tokens.list(op, request);
    return { items: rows.map(present), next };
  }

  /** 404 for a token that is not there. A host that used it stays. */
  async remove(op: Op, id: string): Promise<void> {
    if (!(await this.tokens.remove(op, id))) throw notFound('host token', id);
  }
}

const present = (token: HostTokenEntity): HostTokenInfo => ({
  id: token.id,
  state: token.usedAt ? 'used' : token.expiresAt.getTime() <= Date.now() ? 'expired' : 'open',
  hostId: token.hostId,
  createdBy: token.createdBy,
  createdAt: token.createdAt.toISOString(),
  expiresAt: token.expiresAt.toISOString(),
  usedAt: token.usedAt?.toISOString() ?? null,
});
