import type { LiveEventRecord } from './live-event-record';

/** What is told of an event instead of what was stored, to whom. */
export interface ToldData {
  /** To whoever may see the event. */
  plain: Record<string, unknown>;
  /** To those of them who may read this noun everywhere (`host`: operators). */
  insight: { noun: string; data: Record<string, unknown> };
}

/**
 * A module's say in events of one type that its viewers are told in different words, or whose words are only known from
 * what else the module keeps. Any number are bound.
 */
export abstract class EventDetails {
  abstract readonly type: string;

  /** By sequence number; of those that are left out it is told what was stored. */
  abstract of(events: readonly LiveEventRecord[]): Promise<ReadonlyMap<number, ToldData>>;
}
