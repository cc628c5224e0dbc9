import type { z } from 'zod';

/** A column of a table for people. */
export interface InventoryColumn {
  /** A member of the entry. */
  key: string;
  title: string;
  /** `bytes`, a list of words, or yes and no; else as it is. */
  as?: 'bytes' | 'words' | 'yes-no';
}

export interface InventoryView {
  title: string;
  columns: readonly InventoryColumn[];
  /** Shows entries only in which this member is true. */
  only?: string;
  /** Said when there is nothing to show. */
  none: string;
}

/** A part of every host's inventory that one module owns: what its `InventorySource` collects, entry by entry. */
interface InventoryPartForm {
  /** Passes over what it does not know, as the schema of every section. */
  entry: z.ZodType;
  /** How people see it. */
  tables: readonly InventoryView[];
  /** What of an entry is kept beside the host, so that those who place instances read no inventory. Absent: nothing. */
  kept?: z.ZodType<Readonly<Record<string, unknown>>>;
  /** Its entries hold the disks of instances: the host's capacity shows each, by its `name`, and how full it is. */
  store?: InventoryStore;
}

/** How an entry says what it holds. */
interface InventoryStore {
  /** What people call one of them. */
  noun: string;
  /** The member of what is kept that has its size in bytes. */
  bytes: string;
}

/** By the name that the part has in the inventory. */
export type InventoryTable = Readonly<Record<string, InventoryPartForm>>;

/** The parts of a host's inventory that modules declare, each by its one owner. */
export class InventoryParts {
  constructor(readonly table: InventoryTable) {}
}
