import { injectable } from 'inversify';
import { InventorySource } from '../../host/contract/host.ports';
import type { VmmInventory } from '../contract/vmm.inventory';
import { VmmDrivers } from './drivers/vmm-drivers';

@injectable()
export class VmmInventorySource extends InventorySource {
  readonly part = 'vmms';

  constructor(private readonly drivers: VmmDrivers) {
    super();
  }

  override retest(): Promise<void> {
    return this.drivers.retest();
  }

  override async collect(): Promise<VmmInventory[]> {
    return this.drivers.inventory();
  }
}
