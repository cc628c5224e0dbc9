import { z } from 'zod';
import type { InventoryTable } from '../../../../core/m2m/reports/inventory-table';
import type { Inventory } from '../../contract/host.api';
import { storeKey, type HostParts, type HostStore } from '../../contract/host-needs';

/** What the modules have kept of the parts that a host reported: a copy beside the host, so that no inventory is read for it. */
export const keptOf = (table: InventoryTable, inventory: Inventory): HostParts =>
  Object.fromEntries(
    Object.entries(table).flatMap(([part, { kept }]) =>
      kept ? [[part, z.array(kept).parse(inventory[part] ?? [])]] : [],
    ),
  );

/** The stores among what is kept. */
export const storesOf = (table: InventoryTable, parts: HostParts): HostStore[] =>
  Object.entries(table).flatMap(([part, { store }]) =>
    store
      ? (parts[part] ?? []).map((entry) => {
          const name = String(entry['name']);
          return { key: storeKey(part, name), part, name, bytes: Number(entry[store.bytes]) };
        })
      : [],
  );
