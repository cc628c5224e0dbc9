import { injectable } from 'inversify';
import type { PoolInventory } from '../contract/pool.inventory';
import { type HostConditionFact, InventoryPart } from '../../host/contract/host.ports';

/** Whether a host can hold disks. */
@injectable()
export class PoolInventoryPart extends InventoryPart<PoolInventory> {
  override readonly part = 'pools';

  override conditions(pools: readonly PoolInventory[], complete: boolean): HostConditionFact[] {
    return [storage(pools, complete)];
  }
}

const storage = (pools: readonly PoolInventory[], complete: boolean): HostConditionFact => {
  if (pools.length > 0)
    return {
      type: 'Storage',
      status: 'true',
      reason: 'PoolsPresent',
      message: pools.map((p) => `${p.name} (${p.driver})`).join(', '),
    };
  if (!complete)
    return { type: 'Storage', status: 'unknown', reason: 'Testing', message: 'its storage pools are being looked at' };
  return { type: 'Storage', status: 'false', reason: 'NoPool', message: 'it has no storage pool' };
};
