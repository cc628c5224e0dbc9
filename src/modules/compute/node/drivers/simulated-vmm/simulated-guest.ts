import type { Socket } from 'node:net';
import type { SimulationKnobs } from './knobs';
import type { SerialPort } from './serial-port';

/** What the guest does to its machine. */
export interface GuestHooks {
  powerOff: () => void;
  reset: () => void;
  panic: () => void;
  /** Its watchdog, where it has one, was told nothing for too long. */
  watchdog: () => void;
}

/** At which it sends back what comes. */
const echoPort = 7;

/** In characters. */
const unreadLimit = 4096;

/**
 * A guest that obeys keys on its serial console: `p` powers off, `r` resets, `c` makes it panic, `w` makes it tell its
 * watchdog once and then never again that it is well, `i` makes it ignore
 * the power button from then on; the rest is echoed. At the power button it says `button` and, unless it ignores it, powers off after a
 * while.
 */
export class SimulatedGuest {
  private ignores: boolean;
  private running = true;
  /** Typed while it stood still: it waits in the port. */
  private unread = '';
  private timer: NodeJS.Timeout | null = null;
  /** Its watchdog waits for it. */
  private watched = false;
  private watchdog: NodeJS.Timeout | null = null;

  constructor(
    private readonly knobs: SimulationKnobs,
    private readonly serial: SerialPort,
    private readonly hooks: GuestHooks,
  ) {
    this.ignores = !knobs.obeyPowerButton;
    serial.onInput((text) => this.typed(text));
    serial.write('Linux version 0.0.0 (simulated guest)\nready\n');
  }

  /** What listens at a port of its vsock. */
  listener(port: number): ((stream: Socket) => void) | undefined {
    return port === echoPort ? (stream) => void stream.pipe(stream) : undefined;
  }

  powerButton(): void {
    if (!this.running) return;
    this.serial.write('button\n');
    if (!this.ignores) this.timer ??= setTimeout(() => this.running && this.hooks.powerOff(), this.knobs.powerOffMs);
  }

  /** The watchdog's time stands still too, and begins anew. */
  pause(): void {
    this.running = false;
    this.disarm();
  }

  resume(): void {
    this.running = true;
    if (this.watched) this.arm();
    const { unread } = this;
    this.unread = '';
    this.typed(unread);
  }

  stop(): void {
    this.running = false;
    if (this.timer) clearTimeout(this.timer);
    this.disarm();
    this.serial.onInput(() => undefined);
  }

  private arm(): void {
    this.watched = true;
    this.disarm();
    this.watchdog = setTimeout(this.hooks.watchdog, this.knobs.watchdogMs);
  }

  private disarm(): void {
    if (this.watchdog) clearTimeout(this.watchdog);
  }

  private typed(text: string): void {
    if (!this.running) {
      this.unread = (this.unread + text).slice(0, unreadLimit);
      return;
    }
    for (const key of text) {
      if (key === 'p') return this.hooks.powerOff();
      if (key === 'r') return this.hooks.reset();
      if (key === 'c') this.hooks.panic();
      if (key === 'w') this.arm();
      if (key === 'i') this.ignores = true;
      this.serial.write(key);
    }
  }
}
