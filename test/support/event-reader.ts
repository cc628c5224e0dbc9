import type { LiveEventRecord } from '../../src/core/events/live-event-record';

export class EventReader {
  readonly events: LiveEventRecord[] = [];
  open = true;

  constructor(readonly close: () => void) {}

  get last(): number {
    return this.events.at(-1)?.seq ?? 0;
  }
}
