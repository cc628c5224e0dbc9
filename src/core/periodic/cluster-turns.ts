/** One process's turn at a cluster's work; its fence is larger than that of every turn before. */
export interface ClusterTurn {
  fence: string;
}

/**
 * Decides which process does a cluster's work, on one clock for all of them. A turn is a lease: who does not renew it
 * has lost it.
 */
export abstract class ClusterTurns {
  /**
   * Takes the turn when the work is due and nobody has it; else the milliseconds after which to ask again.
   * @param everyMs the pause of the work
   * @param leaseMs how long the turn is held without being renewed
   */
  abstract take(name: string, everyMs: number, leaseMs: number): Promise<ClusterTurn | { waitMs: number }>;

  /** False when another process has taken over. */
  abstract renew(name: string, turn: ClusterTurn, leaseMs: number): Promise<boolean>;

  /** Gives the turn back; the work is due again after `pauseMs`. Does nothing when another process has taken over. */
  abstract end(name: string, turn: ClusterTurn, pauseMs: number): Promise<void>;
}
