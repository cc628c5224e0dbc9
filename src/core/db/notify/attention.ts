import type { Op } from '../rows/op';

/** Whoever has not looked for longer than this many of its own intervals was not there. */
const missedIntervals = 3;
/** A busy machine may be late by so much without having slept, milliseconds. */
const slackMs = 2000;

export interface Look {
  /**
   * The database's time of this look, milliseconds since 1970. What is judged is judged as of then, for the judge may
   * be stopped right after it.
   */
  at: number;
  /** For how long the judge has looked without a gap, milliseconds of the database's clock. */
  attentiveMs: number;
}

/**
 * Tells whoever concludes from silence for how long it has been listening. A process that was frozen, a database that
 * was away and a clock that jumped all look alike: a gap between two looks. What was silent during a gap may have
 * spoken in vain.
 */
export class Attention {
  private since: number | undefined;
  private last = 0;

  /** @param intervalMs how often it means to look */
  constructor(private readonly intervalMs: number) {}

  /** Looks at the database's clock, and so at whether the database is there. */
  async look(op: Op): Promise<Look> {
    const rows = await op.query<{ at: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS at');
    return this.seen(rows[0]?.at ?? 0);
  }

  /** @param at the database's time of a look that succeeded, milliseconds since 1970 */
  seen(at: number): Look {
    const gap = at - this.last;
    if (this.since === undefined || gap < 0 || gap > missedIntervals * this.intervalMs + slackMs) this.since = at;
    this.last = at;
    return { at, attentiveMs: at - this.since };
  }
}
