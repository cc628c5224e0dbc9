import { injectable, multiInject, optional } from 'inversify';
import type { z } from 'zod';
import type { Op } from '../../../../core/db/rows/op';
import { InventoryParts } from '../../../../core/m2m/reports/inventory-table';
import { ObservedSink } from '../../../../core/m2m/reports/observed';
import { inventoryWith, type Inventory } from '../../contract/host.api';
import { InventoryPart } from '../../contract/host.ports';
import { cgroupCondition } from '../conditions/cgroup-condition';
import { HostConditions } from '../conditions/host-conditions.service';
import { keptOf, storesOf } from '../hosts/host-parts';
import { HostRepository } from '../hosts/host.repository';

/** Takes what a host reports of itself. Each part is judged by the module that owns it. */
@injectable()
export class InventorySink extends ObservedSink<Inventory> {
  readonly section = 'inventory';
  readonly schema: z.ZodType<Inventory>;

  constructor(
    private readonly hosts: HostRepository,
    private readonly conditions: HostConditions,
    private readonly declared: InventoryParts,
    @multiInject(InventoryPart) @optional() private readonly parts: InventoryPart[] = [],
  ) {
    super();
    for (const { part } of parts)
      if (!Object.hasOwn(declared.table, part))
        throw new Error(`no module declares the part "${part}" of the inventory`);
    this.schema = inventoryWith(declared.table);
  }

  async accept(op: Op, hostId: string, data: Inventory): Promise<void> {
    const parts = keptOf(this.declared.table, data);
    const stores = storesOf(this.declared.table, parts);
    if (!(await this.hosts.putInventory(op, hostId, data, { parts, stores }))) return;
    const entriesOf = (part: string): unknown[] => data[part] as unknown[];
    const judged = this.parts.flatMap((one) => one.conditions(entriesOf(one.part), data.complete !== false));
    await this.conditions.apply(op, hostId, [...judged, cgroupCondition(data)]);
  }
}
