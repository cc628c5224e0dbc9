import { injectable } from 'inversify';
import { Conditions } from '../../../../core/db/rows/conditions';
import { rowsInOrder } from '../../../../core/db/rows/keyset';
import { findRow, removeRows } from '../../../../core/db/rows/rows';
import type { Op } from '../../../../core/db/rows/op';
import { InstanceTombstoneEntity } from './instance-tombstone.entity';

@injectable()
export class InstanceTombstoneRepository {
  async record(
    op: Op,
    tombstone: Omit<InstanceTombstoneEntity, 'rescueVolumeId'> & { rescueVolumeId?: string | undefined },
  ): Promise<void> {
    await op.query(
      `INSERT INTO instance_tombstone (instance_id, host_id, generation, volume_id, pool, rescue_volume_id) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (instance_id) DO UPDATE SET host_id = excluded.host_id, generation = excluded.generation, volume_id = excluded.volume_id, pool = excluded.pool, rescue_volume_id = excluded.rescue_volume_id`,
      [
        ...[tombstone.instanceId, tombstone.hostId, tombstone.generation, tombstone.volumeId, tombstone.pool],
        tombstone.rescueVolumeId ?? null,
      ],
    );
  }

  async done(op: Op, instanceId: string): Promise<void> {
    await removeRows(op, InstanceTombstoneEntity, { instanceId });
  }

  /** Whether a delete of the instance has begun to take it apart. */
  async hasBegun(op: Op, instanceId: string): Promise<boolean> {
    return (await findRow(op, InstanceTombstoneEntity, { instanceId })) !== null;
  }

  /** Tombstones whose instance is gone, i.e. whose delete went on without the host. Oldest first, at most `limit`. */
  orphaned(op: Op, limit: number): Promise<InstanceTombstoneEntity[]> {
    const orphaned = new Conditions().add('NOT EXISTS (SELECT 1 FROM instance i WHERE i.id = r.instance_id)');
    return rowsInOrder(op, InstanceTombstoneEntity, orphaned, { alias: 'r', order: 'r.created_at', limit });
  }
}
