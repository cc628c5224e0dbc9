import { z } from 'zod';
import { InventoryParts } from '../../../../core/m2m/reports/inventory-table';
import type { Op } from '../../../../core/db/rows/op';
import type { Inventory } from '../../contract/host.api';
import { type HostConditionFact, InventoryPart } from '../../contract/host.ports';
import type { HostConditions } from '../conditions/host-conditions.service';
import type { HostRepository } from '../hosts/host.repository';
import { InventorySink } from './inventory.sink';

const machine = {
  hostname: 'h',
  kernel: '6.1',
  architecture: 'x86_64',
  cpu: { model: '', flags: [], threads: 1, numaNodes: 1 },
  memory: { totalBytes: 1, hugepages: [] },
  disks: [],
  nics: [],
  pools: [],
  vmms: [],
  agentVersion: '1',
};

/** What another module may add to every host's inventory. */
class Overlays extends InventoryPart<{ name: string }> {
  readonly part = 'overlays';
  conditions(entries: readonly { name: string }[], complete: boolean): HostConditionFact[] {
    const message = entries.map(({ name }) => name).join();
    return [{ type: 'Overlay', status: entries.length > 0 && complete ? 'true' : 'false', reason: 'R', message }];
  }
}

it('gives each part of an inventory to its module, also parts that only that module knows', async () => {
  const applied: HostConditionFact[] = [];
  const hosts = { putInventory: async () => true } as unknown as HostRepository;
  const conditions = {
    apply: async (_op: Op, _host: string, facts: HostConditionFact[]) => void applied.push(...facts),
  } as unknown as HostConditions;
  const entry = z.object({ name: z.string() });
  const declared = new InventoryParts({ overlays: { entry, tables: [] } });
  const sink = new InventorySink(hosts, conditions, declared, [new Overlays()]);
  const accept = async (told: object): Promise<unknown> => {
    applied.length = 0;
    await sink.accept({} as Op, 'h', sink.schema.parse({ ...machine, ...told }) as Inventory);
    return applied.find(({ type }) => type === 'Overlay');
  };
  expect(await accept({ overlays: [{ name: 'a', newer: 1 }] })).toMatchObject({ status: 'true', message: 'a' });
  expect(await accept({ overlays: [{ name: 'a' }], complete: false })).toMatchObject({ status: 'false' });
  expect(await accept({})).toMatchObject({ status: 'false', message: '' });
  expect(sink.schema.safeParse({ ...machine, overlays: [{}] }).success).toBe(false);
  expect(() => new InventorySink(hosts, conditions, new InventoryParts({}), [new Overlays()])).toThrow('"overlays"');
});
