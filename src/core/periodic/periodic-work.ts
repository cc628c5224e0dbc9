/** What is done again and again for as long as the process runs. */
export interface PeriodicWork {
  /** `<module>.<what>`, the same in all processes and releases: a cluster's work is known by it. */
  name: string;
  /** From the end of a run to the start of the next one, milliseconds. Each process adds up to a tenth of it. */
  everyMs: number;
  /**
   * `process`: each process does it, for it is about the process itself (its sockets, its memory, its files).
   * `cluster`: one of the processes on this database does it, whichever comes first; the others take over when that one
   * dies or freezes. Management only.
   */
  scope: 'process' | 'cluster';
  /**
   * How long a run may take, milliseconds. Then its signal fires and the run has failed; no other begins in this
   * process until it has really ended.
   */
  deadlineMs: number;
  /** True: the first run is due when the process starts, and not only after the pause. */
  atStart?: boolean;
  /**
   * One run. A failure is logged and counted, and the next run comes all the same. The signal fires at the deadline,
   * when the process stops, and when another process has taken over.
   */
  run(signal: AbortSignal): Promise<unknown>;
}

/** A part that has periodic work. The wiring names it in `periodic`. */
export abstract class PeriodicWorks {
  abstract periodicWork(): PeriodicWork[];
}
