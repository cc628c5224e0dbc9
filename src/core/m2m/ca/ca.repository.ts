import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';

export interface CaRow {
  certificate: string;
  sealedKey: string;
}

const renewed = 'renewed';
const olderOnes =
  'SELECT o.serial FROM certificate o WHERE o.host_id = c.host_id AND o.issued_at < c.issued_at AND o.revoked_at IS NULL';

/** The installation's root and the record of what it issued. */
@injectable()
export class CaRepository {
  async find(op: Op): Promise<CaRow | null> {
    const rows = await op.query<{ certificate: string; sealed_key: string }>(
      'SELECT certificate, sealed_key FROM ca WHERE id = 1',
    );
    return rows[0] ? { certificate: rows[0].certificate, sealedKey: rows[0].sealed_key } : null;
  }

  /** Of several processes that start at once, one root wins. */
  async insertUnlessThere(op: Op, row: CaRow): Promise<void> {
    await op.query('INSERT INTO ca (id, certificate, sealed_key) VALUES (1, $1, $2) ON CONFLICT DO NOTHING', [
      row.certificate,
      row.sealedKey,
    ]);
  }

  async record(op: Op, serial: string, hostId: string | null, expiresAt: Date): Promise<void> {
    await op.query('INSERT INTO certificate (serial, host_id, expires_at) VALUES ($1, $2, $3)', [
      serial,
      hostId,
      expiresAt,
    ]);
  }

  /** Revokes all certificates of a host; they stay listed until they expire. */
  async revokeHost(op: Op, hostId: string, reason: string): Promise<void> {
    await op.query('UPDATE certificate SET revoked_at = now(), reason = $2 WHERE host_id = $1 AND revoked_at IS NULL', [
      hostId,
      reason,
    ]);
  }

  /** `renewed`: another one of the same host took its place. */
  revoked(op: Op): Promise<{ serial: string; renewed: boolean }[]> {
    return op.query(
      `SELECT serial, reason = '${renewed}' AS renewed FROM certificate WHERE revoked_at IS NOT NULL AND expires_at > now()`,
    );
  }

  /** Whether it stands, and whether older ones of the same host do. */
  async status(op: Op, serial: string): Promise<{ valid: boolean; older: boolean }> {
    const [row] = await op.query<{ valid: boolean; older: boolean }>(
      `SELECT c.revoked_at IS NULL AS valid, EXISTS (${olderOnes}) AS older FROM certificate c WHERE c.serial = $1`,
      [serial],
    );
    return row ?? { valid: false, older: false };
  }

  /** Revokes those that its host had before this one. */
  async revokeOlder(op: Op, serial: string): Promise<void> {
    await op.query(
      `UPDATE certificate SET revoked_at = now(), reason = '${renewed}' WHERE serial IN (SELECT o.serial FROM certificate c JOIN LATERAL (${olderOnes}) o ON true WHERE c.serial = $1)`,
      [serial],
    );
  }

  async purgeExpired(op: Op): Promise<void> {
    await op.query(`DELETE FROM certificate WHERE expires_at < now() - interval '1 day'`);
  }
}
