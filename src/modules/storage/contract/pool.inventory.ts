import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import type { InventoryTable } from '../../../core/m2m/reports/inventory-table';

const poolInventory = z.object({
  name: z.string(),
  driver: z.string(),
  totalBytes: field.bytes,
  freeBytes: field.bytes,
});
export type PoolInventory = z.infer<typeof poolInventory>;

export const storageInventory: InventoryTable = {
  pools: {
    entry: poolInventory,
    tables: [
      {
        title: 'Storage pools',
        columns: [
          { key: 'name', title: 'name' },
          { key: 'driver', title: 'driver' },
          { key: 'totalBytes', title: 'size', as: 'bytes' },
          { key: 'freeBytes', title: 'free', as: 'bytes' },
        ],
        none: 'none',
      },
    ],
    kept: poolInventory.pick({ name: true, totalBytes: true }),
    store: { noun: 'pool', bytes: 'totalBytes' },
  },
};
