import { injectable } from 'inversify';
import { exportJWK, exportPKCS8, generateKeyPair, importJWK, importPKCS8, type CryptoKey } from 'jose';
import { v7 as uuid } from 'uuid';
import { Config } from '../../../../core/config/config';
import { MasterKey } from '../../../../core/crypto/master-key';
import { Database } from '../../../../core/db/database';
import { looksLikeId } from '../../../../core/http/routes/fields';
import { Logging } from '../../../../core/telemetry/logging';
import type { IdentityConfig } from '../../contract/identity.config';
import { SigningKeyRepository, type SigningKeyRow } from './signing-key.repository';

export const signingAlgorithm = 'ES256';
const daySeconds = 86_400;

interface CachedKey {
  id: string;
  key: CryptoKey;
  /** Of `performance.now()`: the database said how long, this process measures it. */
  until: number;
}

/**
 * The key pairs of access tokens, made and replaced as time goes by. Private keys lie in the database, sealed with the
 * master key.
 */
@injectable()
export class SigningKeys {
  private signing: CachedKey | undefined;
  private loading: Promise<CachedKey> | undefined;
  private readonly verifying = new Map<string, CachedKey>();

  constructor(
    private readonly database: Database,
    private readonly keys: SigningKeyRepository,
    private readonly masterKey: MasterKey,
    private readonly config: Config,
    private readonly logging: Logging,
  ) {}

  /** The key to sign with now; makes one when none is left. Opens its own transaction: call it outside of any. */
  async current(): Promise<{ id: string; key: CryptoKey }> {
    if (this.signing && this.signing.until > performance.now()) return this.signing;
    this.loading ??= this.load().finally(() => (this.loading = undefined));
    this.signing = await this.loading;
    return this.signing;
  }

  /** The public key of a token's `kid`; null when it is unknown or no longer accepted. */
  async verification(id: string): Promise<CryptoKey | null> {
    if (!looksLikeId(id)) return null;
    const cached = this.verifying.get(id);
    if (cached && cached.until > performance.now()) return cached.key;
    this.verifying.delete(id);
    const row = await this.keys.verifying(this.database.op, id);
    if (!row) return null;
    const key = (await importJWK(row.publicJwk, row.algorithm)) as CryptoKey;
    this.verifying.set(id, { id, key, until: performance.now() + row.verifiesForSeconds * 1000 });
    return key;
  }

  private async load(): Promise<CachedKey> {
    const row = (await this.keys.current(this.database.op)) ?? (await this.make());
    const pem = this.masterKey.open(row.privateSealed, purpose(row.id)).toString('utf8');
    const key = await importPKCS8(pem, row.algorithm);
    return { id: row.id, key, until: performance.now() + row.signsForSeconds * 1000 };
  }

  private async make(): Promise<SigningKeyRow> {
    const { accessTokenSeconds, signingKeyDays } = this.config.section<IdentityConfig>('identity');
    const pair = await generateKeyPair(signingAlgorithm, { extractable: true });
    const id = uuid();
    const privateSealed = this.masterKey.seal(await exportPKCS8(pair.privateKey), purpose(id));
    const signsForSeconds = signingKeyDays * daySeconds;
    const fresh: SigningKeyRow = {
      id,
      algorithm: signingAlgorithm,
      publicJwk: await exportJWK(pair.publicKey),
      privateSealed,
      signsForSeconds,
      verifiesForSeconds: signsForSeconds + accessTokenSeconds + 300,
    };
    return this.database.tx(async (op) => {
      await this.keys.lock(op);
      const other = await this.keys.current(op);
      if (other) return other;
      await this.keys.prune(op);
      await this.keys.insert(op, fresh);
      this.logging.for('identity').info({ kid: id }, 'new signing key');
      return fresh;
    });
  }
}

const purpose = (id: string): string => `signing-key/${id}`;
