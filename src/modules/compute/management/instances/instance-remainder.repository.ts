import { injectable } from 'inversify';
import { findRow, removeRows } from '../../../../core/db/rows/rows';
import type { Op } from '../../../../core/db/rows/op';
import { InstanceRemainderEntity } from './instance-remainder.entity';

@injectable()
export class InstanceRemainderRepository {
  async record(op: Op, remainder: InstanceRemainderEntity): Promise<void> {
    await op.query(
      `INSERT INTO instance_remainder (instance_id, host_id, generation, volume_id, pool) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (instance_id) DO UPDATE SET host_id = excluded.host_id, generation = excluded.generation, volume_id = excluded.volume_id, pool = excluded.pool`,
      [remainder.instanceId, remainder.hostId, remainder.generation, remainder.volumeId, remainder.pool],
    );
  }

  async done(op: Op, instanceId: string): Promise<void> {
    await removeRows(op, InstanceRemainderEntity, { instanceId });
  }

  /** Whether a delete of the instance has begun to take it apart. */
  async hasBegun(op: Op, instanceId: string): Promise<boolean> {
    return (await findRow(op, InstanceRemainderEntity, { instanceId })) !== null;
  }

  /** Remainders whose instance is gone, i.e. whose delete went on without the host. Oldest first, at most `limit`. */
  orphaned(op: Op, limit: number): Promise<InstanceRemainderEntity[]> {
    return op.manager
      .createQueryBuilder(InstanceRemainderEntity, 'r')
      .where('NOT EXISTS (SELECT 1 FROM instance i WHERE i.id = r.instance_id)')
      .orderBy('r.created_at')
      .limit(limit)
      .getMany();
  }
}
