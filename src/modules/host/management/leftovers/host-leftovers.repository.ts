import { injectable } from 'inversify';
import { findRow } from '../../../../core/db/rows/rows';
import type { Op } from '../../../../core/db/rows/op';
import { HostLeftoversEntity } from './host-leftovers.entity';

@injectable()
export class HostLeftoversRepository {
  of(op: Op, hostId: string): Promise<HostLeftoversEntity | null> {
    return findRow(op, HostLeftoversEntity, { hostId });
  }

  async put(op: Op, { hostId, scannedAt, unclaimed }: HostLeftoversEntity): Promise<void> {
    await op.query(
      `INSERT INTO host_leftovers (host_id, scanned_at, unclaimed) SELECT id, $2, $3 FROM host WHERE id = $1
       ON CONFLICT (host_id) DO UPDATE SET scanned_at = EXCLUDED.scanned_at, unclaimed = EXCLUDED.unclaimed`,
      [hostId, scannedAt, JSON.stringify(unclaimed)],
    );
  }
}
