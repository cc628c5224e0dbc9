import { injectable } from 'inversify';
import type { JWK } from 'jose';
import type { Op } from '../../../../core/db/rows/op';

export interface SigningKeyRow {
  id: string;
  algorithm: string;
  publicJwk: JWK;
  privateSealed: string;
  /** By the database's clock. */
  signsForSeconds: number;
  verifiesForSeconds: number;
}

const columns = `id, algorithm, public_jwk AS "publicJwk", private_sealed AS "privateSealed",
  extract(epoch FROM signs_until - now())::float8 AS "signsForSeconds", extract(epoch FROM verifies_until - now())::float8 AS "verifiesForSeconds"`;

@injectable()
export class SigningKeyRepository {
  /** One process at a time decides whether a new key is due. */
  async lock(op: Op): Promise<void> {
    await op.query(`SELECT pg_advisory_xact_lock(hashtextextended('identity/signing-key', 0))`);
  }

  async current(op: Op): Promise<SigningKeyRow | null> {
    const rows: SigningKeyRow[] = await op.query(
      `SELECT ${columns} FROM signing_key WHERE signs_until > now() ORDER BY signs_until DESC LIMIT 1`,
    );
    return rows[0] ?? null;
  }

  async verifying(op: Op, id: string): Promise<SigningKeyRow | null> {
    const rows: SigningKeyRow[] = await op.query(
      `SELECT ${columns} FROM signing_key WHERE id = $1 AND verifies_until > now()`,
      [id],
    );
    return rows[0] ?? null;
  }

  async insert(
    op: Op,
    key: {
      id: string;
      algorithm: string;
      publicJwk: JWK;
      privateSealed: string;
      signsForSeconds: number;
      verifiesForSeconds: number;
    },
  ): Promise<void> {
    await op.query(
      `INSERT INTO signing_key (id, algorithm, public_jwk, private_sealed, signs_until, verifies_until)
       VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5), now() + make_interval(secs => $6))`,
      [
        key.id,
        key.algorithm,
        JSON.stringify(key.publicJwk),
        key.privateSealed,
        key.signsForSeconds,
        key.verifiesForSeconds,
      ],
    );
  }

  async prune(op: Op): Promise<void> {
    await op.query(`DELETE FROM signing_key WHERE verifies_until < now()`);
  }
}
