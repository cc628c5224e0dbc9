import { injectable } from 'inversify';
import type { Op } from '../../../core/db/op';
import { findRow } from '../../../core/db/rows';
import { InstanceRemainderEntity } from './instance-remainder.entity';

@injectable()
export class InstanceRemainderRepository {
  async record(op: Op, remainder: InstanceRemainderEntity): Promise<void> {
    await op.manager.upsert(InstanceRemainderEntity, remainder, ['instanceId']);
  }

  async done(op: Op, instanceId: string): Promise<void> {
    await op.manager.delete(InstanceRemainderEntity, { instanceId });
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
