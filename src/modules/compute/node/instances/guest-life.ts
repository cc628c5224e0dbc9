import { z } from 'zod';
import type { ObservedInstance } from '../../contract/instance.verbs';
import type { GuestEvent } from '../drivers/guest-event';

/** What the guest of a running machine did, as it lies in its record. Times in milliseconds since 1970. */
export const guestLife = z.object({
  panickedAt: z.number().nullable(),
  watchdogAt: z.number().nullable().default(null),
  /** Its own resets, the newest last; no more than are needed to tell a loop. */
  resets: z.array(z.number()),
  /** Until then it is one that resets itself again and again. */
  loopsUntil: z.number().nullable(),
  /** The last of it all that is on record; what is read again is of before. */
  heardAt: z.number().default(0),
});
export type GuestLife = z.infer<typeof guestLife>;

export const newGuest: GuestLife = { panickedAt: null, watchdogAt: null, resets: [], loopsUntil: null, heardAt: 0 };

/** More than so many of something within so many milliseconds are too many. */
export interface Budget {
  count: number;
  windowMs: number;
}

/** Those of the times that still count at `now`. */
export const within = (times: readonly number[], { windowMs }: Budget, now: number): number[] =>
  // A clock that was set back makes none of them count for longer.
  times.filter((at) => at > now - windowMs && at <= now + windowMs);

/** It was read again, and is on record already. */
export const isKnown = ({ heardAt }: GuestLife, { written, at }: GuestEvent): boolean =>
  written === true && at <= heardAt;

export const withEvent = (before: GuestLife, event: GuestEvent, budget: Budget): GuestLife => {
  if (isKnown(before, event)) return before;
  const life = { ...before, heardAt: event.at };
  if (event.kind === 'panic') return { ...life, panickedAt: event.at };
  if (event.kind === 'watchdog') return { ...life, watchdogAt: event.at };
  const resets = [...within(life.resets, budget, event.at), event.at].slice(-budget.count - 1);
  const [first = event.at] = resets;
  return { ...life, resets, loopsUntil: resets.length > budget.count ? first + budget.windowMs : life.loopsUntil };
};

const moment = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : new Date(at).toISOString();

/** What is told of it. `lost`: of what its machine consists of, and has no more. */
export const guestOf = (
  { panickedAt, watchdogAt, resets, loopsUntil }: GuestLife,
  now: number,
  lost: readonly string[] = [],
): ObservedInstance['guest'] => ({
  panickedAt: moment(panickedAt),
  watchdogAt: moment(watchdogAt),
  resetAt: moment(resets.at(-1)),
  looping: loopsUntil !== null && now < loopsUntil,
  lost: [...lost],
});
