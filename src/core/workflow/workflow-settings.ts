/** Tuning of one engine. The defaults serve production; tests shorten the times. */
export class WorkflowSettings {
  /** Tasks that this process runs at the same time. Never more than 256. */
  concurrency = 128;
  /** How long a task belongs to a worker that does not renew. Milliseconds. */
  leaseMs = 15_000;
  /** Longest time in which a lost notification goes unnoticed. Milliseconds; not below 1,000. */
  pollMs = 1_000;
  /**
   * First pause between two questions for the outcome of an accepted call; it doubles up to `outcomePollMaxMs`.
   * Milliseconds.
   */
  outcomePollMs = 1_000;
  outcomePollMaxMs = 10_000;
  /** How long `stop()` waits for steps under way. Milliseconds. */
  stopGraceMs = 5_000;
  /** Longest wait between two attempts to undo. Milliseconds. */
  undoMaxBackoffMs = 15_000;

  /**
   * Calls to one host under way at the same time, over all processes. Further tasks wait for their turn without a
   * worker's place.
   */
  hostConcurrency = 16;
  /**
   * Longest time in which the end of a wait for a slot under a limit goes unnoticed when its notice was lost.
   * Milliseconds.
   */
  slotRecheckMs = 30_000;

  constructor(init: Partial<WorkflowSettings> = {}) {
    Object.assign(this, init);
    this.concurrency = Math.min(Math.max(1, this.concurrency), 256);
  }
}
