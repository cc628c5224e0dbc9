import { injectable } from 'inversify';
import { type HostConditionFact, InventoryPart } from '../../../host/contract/host.ports';
import type { ShareInventory } from '../../contract/vmm.inventory';

/** Whether the directories can be given out that its configuration names. */
@injectable()
export class ShareInventoryPart extends InventoryPart<ShareInventory> {
  override readonly part = 'shares';

  override conditions(shares: readonly ShareInventory[]): HostConditionFact[] {
    const bad = shares.filter(({ usable }) => !usable);
    if (bad.length === 0) {
      const message = shares.length === 0 ? 'it has no shares' : 'its shares can be used';
      return [{ type: 'Shares', status: 'true', reason: 'NothingWrong', message }];
    }
    const message = bad.map(({ name, reason }) => `the share "${name}" cannot be used: ${reason}`).join('; ');
    return [{ type: 'Shares', status: 'false', reason: 'Unusable', message }];
  }
}
