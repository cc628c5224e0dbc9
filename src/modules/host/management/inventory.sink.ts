import { injectable } from 'inversify';
import type { Op } from '../../../core/db/op';
import { ObservedSink } from '../../../core/m2m/observed';
import { inventory, type Inventory } from '../contract/host.api';
import { HostConditions } from './host-conditions.service';
import { HostRepository } from './host.repository';
import { inventoryConditions } from './inventory-conditions';

/** Takes what a host reports of itself. */
@injectable()
export class InventorySink extends ObservedSink<Inventory> {
  readonly section = 'inventory';
  readonly schema = inventory;

  constructor(
    private readonly hosts: HostRepository,
    private readonly conditions: HostConditions,
  ) {
    super();
  }

  async accept(op: Op, hostId: string, data: Inventory): Promise<void> {
    if (await this.hosts.putInventory(op, hostId, data))
      await this.conditions.apply(op, hostId, inventoryConditions(data));
  }
}
