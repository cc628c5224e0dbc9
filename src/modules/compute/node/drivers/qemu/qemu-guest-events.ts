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

  constructor(private readonly tell: (event: GuestEvent) => void = () => undefined) {}

  /** Tells what the guest did, and not what others did, such as a reset that was asked for over the monitor. */
  heard(event: QmpEvent, at: number): void {
    const did = this.did(event, at);
    if (did) this.tell(did);
  }

  private did({ event, data }: QmpEvent, at: number): GuestEvent | null {
    if (event === 'GUEST_PANICKED') return { kind: 'panic', at };
    if (event !== 'RESET') return null;
    const firmware = at >= this.lastReset && at - this.lastReset < firmwareWithin;
    if (!firmware) this.lastReset = at;
    return data['guest'] === true && !firmware ? { kind: 'reset', at } : null;
  }
}
