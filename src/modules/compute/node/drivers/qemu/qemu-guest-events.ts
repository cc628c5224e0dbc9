import type { GuestEvent } from '../guest-event';
import type { QmpEvent } from './qmp-client';

/**
 * Milliseconds. The BIOS (SeaBIOS) begins with a reset of its own, 200 ms after any other reset, and QEMU says that the
 * guest did it. A guest that resets itself more often than this counts as one that does it this often.
 */
const firmwareWithin = 2000;

/** What QEMU says of one guest, as it comes. */
export class QemuGuestEvents {
  private lastReset = Number.NEGATIVE_INFINITY;
  /** Whatever is not later was read where it was written down. */
  private writtenUntil = Number.NEGATIVE_INFINITY;

  constructor(private readonly tell: (event: GuestEvent) => void = () => undefined) {}

  /** Tells what the guest did, and not what others did, such as a reset that was asked for over the monitor. */
  heard(event: QmpEvent): void {
    // It was written down and read, before it came.
    if (event.at <= this.writtenUntil) return;
    const did = this.did(event);
    if (did) this.tell(did);
  }

  /** Tells the same of what it wrote down, oldest first, as far as it was not read before. */
  written(events: readonly QmpEvent[]): void {
    this.lastReset = Number.NEGATIVE_INFINITY;
    const all = events.flatMap((event) => this.did(event) ?? []);
    const lastReset = all.findLast(({ kind }) => kind === 'reset')?.at ?? Number.NEGATIVE_INFINITY;
    for (const event of all)
      if (event.at > this.writtenUntil)
        this.tell({ ...event, written: true, ...(event.kind === 'panic' && event.at <= lastReset && { over: true }) });
    this.writtenUntil = Math.max(this.writtenUntil, ...events.map(({ at }) => at));
  }

  private did({ event, at, data }: QmpEvent): GuestEvent | null {
    const stopped = data['action'] === 'pause' ? { stopped: true as const } : {};
    if (event === 'GUEST_PANICKED') return { kind: 'panic', at, ...stopped };
    if (event === 'WATCHDOG') return { kind: 'watchdog', at, ...stopped };
    if (event !== 'RESET') return null;
    const firmware = at >= this.lastReset && at - this.lastReset < firmwareWithin;
    if (!firmware) this.lastReset = at;
    return data['guest'] === true && !firmware ? { kind: 'reset', at } : null;
  }
}
