import { injectable } from 'inversify';
import type { Op } from '../../db/op';

export interface CaRow {
  certificate: string;
  sealedKey: string;
}

/** The installation's root and the record of what it issued. */
@injectable()
export class CaRepository {
  async find(op: Op): Promise<CaRow | null> {
    const rows = await op.query<{ certificate: string; sealed_key: string }>('SELECT certificate, sealed_key FROM ca WHERE id = 1');
    return rows[0] ? { certificate: rows[0].certificate, sealedKey: rows[0].sealed_key } : null;
  }

  /** Of several processes that start at once, one root wins. */
  async insertUnlessThere(op: Op, row: CaRow): Promise<void> {
    await op.query('INSERT INTO ca (id, certificate, sealed_key) VALUES (1, $1, $2) ON CONFLICT DO NOTHING', [row.certificate, row.sealedKey]);
  }

  async record(op: Op, serial: string, hostId: string | null, expiresAt: Date): Promise<void> {
    await op.query('INSERT INTO certificate (serial, host_id, expires_at) VALUES ($1, $2, $3)', [serial, hostId, expiresAt]);
  }

  /** Revokes all certificates of a host; they stay listed until they expire. */
  async revokeHost(op: Op, hostId: string, reason: string): Promise<void> {
    await op.query('UPDATE certificate SET revoked_at = now(), reason = $2 WHERE host_id = $1 AND revoked_at IS NULL', [hostId, reason]);
  }

  async revokedSerials(op: Op): Promise<string[]> {
    const rows = await op.query<{ serial: string }>('SELECT serial FROM certificate WHERE revoked_at IS NOT NULL AND expires_at > now()');
    return rows.map((row) => row.serial);
  }

  async isRevoked(op: Op, serial: string): Promise<boolean> {
    const rows = await op.query<{ valid: boolean }>('SELECT revoked_at IS NULL AS valid FROM certificate WHERE serial = $1', [serial]);
    return rows[0]?.valid !== true;
  }

  async purgeExpired(op: Op): Promise<void> {
    await op.query(`DELETE FROM certificate WHERE expires_at < now() - interval '1 day'`);
  }
}
