import type { z } from 'zod';
import type { Op } from '../../db/rows/op';

/**
 * Node half: one section of the heartbeat. Called every 5 s and on `ObservedReporter.changed(section)`. Must be cheap.
 */
export abstract class ObservedSource {
  abstract readonly section: string;
  /** Of the form in which it is written: grows when a reader of the one before would misread it. */
  readonly revision: number = 1;
  abstract collect(): Promise<unknown>;
}

/** Node half: sends a heartbeat now instead of at the next tick, because a section changed. */
export abstract class ObservedReporter {
  abstract changed(section: string): void;
}

/**
 * Management half: takes one section of a host's heartbeat. Its schema passes over fields that it does not know, takes
 * words of open sets (kinds, drivers, reasons) for strings, and does without what older agents do not report.
 */
export abstract class ObservedSink<T = unknown> {
  abstract readonly section: string;
  abstract readonly schema: z.ZodType<T>;
  /** The newest revision that it reads. A newer one is not taken: it may mean something else by the same words. */
  readonly revision: number = 1;
  /** By revision: brings what an older agent wrote to the revision after it. Without an entry it reads the same. */
  readonly older: Readonly<Record<number, (data: unknown) => unknown>> = {};
  abstract accept(op: Op, hostId: string, data: T): Promise<void>;
}
