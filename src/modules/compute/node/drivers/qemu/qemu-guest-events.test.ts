import type { GuestEvent } from '../guest-event';
import { QemuGuestEvents } from './qemu-guest-events';

describe('what QEMU says of its guest', () => {
  const reset = (guest: boolean) => ({ event: 'RESET', data: { guest } });
  it('is told without the resets that were asked for and those that the BIOS adds', () => {
    const told: GuestEvent[] = [];
    const events = new QemuGuestEvents((event) => told.push(event));
    for (const [event, at] of [
      [reset(false), 1000],
      [reset(true), 1200],
      [reset(true), 4000],
      [reset(true), 4200],
      [{ event: 'STOP', data: {} }, 4300],
      [{ event: 'GUEST_PANICKED', data: { action: 'run' } }, 4400],
      [{ event: 'WATCHDOG', data: { action: 'reset' } }, 4500],
      [{ event: 'WATCHDOG', data: { action: 'pause' } }, 4600],
      [reset(true), 9000],
    ] as const)
      events.heard({ ...event, at });
    expect(told).toEqual([
      { kind: 'reset', at: 4000 },
      { kind: 'panic', at: 4400 },
      { kind: 'watchdog', at: 4500 },
      { kind: 'watchdog', at: 4600, stopped: true },
      { kind: 'reset', at: 9000 },
    ]);
  });
});
