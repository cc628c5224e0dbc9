import { injectable } from 'inversify';
import { Conditions } from '../../../core/db/rows/conditions';
import { rowsInOrder } from '../../../core/db/rows/keyset';
import { removeRows } from '../../../core/db/rows/rows';
import type { Op } from '../../../core/db/rows/op';
import { VolumeTombstoneEntity } from './volume-tombstone.entity';

@injectable()
export class VolumeTombstoneRepository {
  async record(op: Op, { volumeId, hostId, pool }: VolumeTombstoneEntity): Promise<void> {
    await op.query(
      'INSERT INTO volume_tombstone (volume_id, host_id, pool) VALUES ($1, $2, $3) ON CONFLICT (volume_id) DO NOTHING',
      [volumeId, hostId, pool],
    );
  }

  async done(op: Op, volumeId: string): Promise<void> {
    await removeRows(op, VolumeTombstoneEntity, { volumeId });
  }

  /** Those whose volume is gone, i.e. whose delete went on without the host. Oldest first, at most `limit`. */
  orphaned(op: Op, limit: number): Promise<VolumeTombstoneEntity[]> {
    const orphaned = new Conditions().add('NOT EXISTS (SELECT 1 FROM volume v WHERE v.id = r.volume_id)');
    return rowsInOrder(op, VolumeTombstoneEntity, orphaned, { alias: 'r', order: 'r.created_at', limit });
  }
}
