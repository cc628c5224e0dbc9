import { z } from 'zod';
import type { InventoryTable } from '../../../../core/m2m/reports/inventory-table';
import type { Inventory } from '../../contract/host.api';
import { keptOf, storesOf } from './host-parts';

const table: InventoryTable = {
  barns: {
    entry: z.object({ name: z.string(), hayBytes: z.number(), colour: z.string() }),
    tables: [],
    kept: z.object({ name: z.string(), hayBytes: z.number() }),
    store: { noun: 'barn', bytes: 'hayBytes' },
  },
  silos: { entry: z.object({ name: z.string() }), tables: [] },
};
const inventory = {
  barns: [
    { name: 'red', hayBytes: 7, colour: 'red' },
    { name: 'old', hayBytes: 5, colour: 'grey' },
  ],
  silos: [{ name: 'tall' }],
} as unknown as Inventory;

it('keeps of each part what its module declares, and finds the stores in it', () => {
  const kept = keptOf(table, inventory);
  expect(kept).toEqual({
    barns: [
      { name: 'red', hayBytes: 7 },
      { name: 'old', hayBytes: 5 },
    ],
  });
  expect(storesOf(table, kept)).toEqual([
    { key: 'barns/red', part: 'barns', name: 'red', bytes: 7 },
    { key: 'barns/old', part: 'barns', name: 'old', bytes: 5 },
  ]);
});

it('finds nothing where a host reports nothing of it', () => {
  const kept = keptOf(table, {} as Inventory);
  expect(kept).toEqual({ barns: [] });
  expect(storesOf(table, kept)).toEqual([]);
});
