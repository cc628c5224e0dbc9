import type { LiveEventRecord } from './live-event-record';

/** An event on its way to its viewers. */
export interface OutgoingEvent {
  /** What whoever may see it is told. */
  event: LiveEventRecord;
  /** What those of them are told instead who may read this noun everywhere. */
  insight?: { noun: string; event: LiveEventRecord };
}
