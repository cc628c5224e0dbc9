import type { Newable } from 'inversify';
import type { EntityMetadata } from 'typeorm';

/**
 * A statement that several parts of a transaction add to, and that runs once, with all they added, just before its
 * COMMIT and in one go with it.
 */
export interface GatheredStatement<T> {
  readonly sql: string;
  params(items: readonly T[]): unknown[];
  /** The same for one item alone, where that is cheaper without a list. */
  readonly single?: { readonly sql: string; params(item: T): unknown[] };
}

/** What to run for the items. */
export const gatheredQuery = <T>(
  statement: GatheredStatement<T>,
  items: readonly [T, ...T[]],
): { sql: string; params: unknown[] } => {
  const { single } = statement;
  return single && items.length === 1
    ? { sql: single.sql, params: single.params(items[0]) }
    : { sql: statement.sql, params: statement.params(items) };
};

/**
 * The operation context: which transaction a repository call belongs to. Threaded explicitly through services, so that
 * a reader sees which calls commit together. Outside a transaction (`Database.op`) each statement stands alone.
 */
export interface Op {
  readonly inTransaction: boolean;
  /** What an entity says of its table. */
  readonly metadataOf: (entity: Newable<object>) => EntityMetadata;
  /**
   * One parametrised statement. Rows as plain objects with the column names as selected, also of what is changed and
   * returned.
   */
  query<R extends object>(sql: string, params?: readonly unknown[]): Promise<R[]>;
  /**
   * Adds to a statement whose result nobody reads. Outside a transaction it runs at once, with this item alone.
   * In a transaction its failure is the commit's.
   */
  gather<T>(statement: GatheredStatement<T>, item: T): Promise<void>;
  /**
   * Runs once the outermost transaction has committed; never on rollback. For wake-ups, never for effects that must not
   * be lost.
   */
  afterCommit(fn: () => void): void;
  /**
   * Runs once the outermost transaction is over, committed or not, before what waits for the commit: for what is kept
   * for it in memory. Outside a transaction it runs at once.
   */
  afterEnd(fn: () => void): void;
  /**
   * Says that one statement is left. When it is the only one of the whole transaction, it runs without BEGIN and
   * COMMIT, for it is one by itself: what the caller concludes from its result must not need a rollback.
   */
  last(): void;
}
