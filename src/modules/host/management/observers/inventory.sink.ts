import { injectable, multiInject, optional } from 'inversify';
import { z } from 'zod';
import type { Op } from '../../../../core/db/rows/op';
import { ObservedSink } from '../../../../core/m2m/reports/observed';
import { inventory, type Inventory } from '../../contract/host.api';
import { InventoryPart } from '../../contract/host.ports';
import { cgroupCondition } from '../conditions/cgroup-condition';
import { HostConditions } from '../conditions/host-conditions.service';
import { HostRepository } from '../hosts/host.repository';

/** Takes what a host reports of itself. Each part is judged by the module that owns it. */
@injectable()
export class InventorySink extends ObservedSink<Inventory> {
  readonly section = 'inventory';
  readonly schema: z.ZodType<Inventory>;

  constructor(
    private readonly hosts: HostRepository,
    private readonly conditions: HostConditions,
    @multiInject(InventoryPart) @optional() private readonly parts: InventoryPart[] = [],
  ) {
    super();
    const further = parts.filter(({ part }) => !Object.hasOwn(inventory.shape, part));
    // An agent from before a part does not report it.
    const shape = Object.fromEntries(further.map(({ part, entry }) => [part, z.array(entry).default([])]));
    this.schema = inventory.and(z.object(shape));
  }

  async accept(op: Op, hostId: string, data: Inventory): Promise<void> {
    if (!(await this.hosts.putInventory(op, hostId, data))) return;
    const entriesOf = (part: string): unknown[] => (data as unknown as Record<string, unknown[]>)[part] ?? [];
    const judged = this.parts.flatMap((one) => one.conditions(entriesOf(one.part), data.complete !== false));
    await this.conditions.apply(op, hostId, [...judged, cgroupCondition(data)]);
  }
}
