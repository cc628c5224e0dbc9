import type { EntityManager } from 'typeorm';

/**
 * The operation context: which transaction a repository call belongs to. Threaded explicitly through services, so that a reader
 * sees which calls commit together. Outside a transaction (`Database.op`) each statement stands alone.
 */
export interface Op {
  readonly manager: EntityManager;
  readonly inTransaction: boolean;
  /** Runs once the outermost transaction has committed; never on rollback. For wake-ups, never for effects that must not be lost. */
  afterCommit(fn: () => void): void;
}
