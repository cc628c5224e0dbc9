import { injectable } from 'inversify';
import { InventorySource } from '../../../host/contract/host.ports';
import type { ShareInventory } from '../../contract/vmm.inventory';
import { HostShares } from './host-shares';

@injectable()
export class ShareInventorySource extends InventorySource {
  readonly part = 'shares';

  constructor(private readonly shares: HostShares) {
    super();
  }

  override async collect(): Promise<ShareInventory[]> {
    return this.shares.inventory();
  }
}
