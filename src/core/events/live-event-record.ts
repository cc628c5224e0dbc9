import type { LiveEvent } from './outbox';

/**
 * An event as delivered. `seq` grows in the order of delivery, with gaps; a client resumes after the last one it has
 * seen.
 */
export interface LiveEventRecord extends LiveEvent {
  seq: number;
  /** RFC 3339, UTC. */
  at: string;
}
