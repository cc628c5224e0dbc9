import { browserClock, type Clock, type Timer } from './clock';
import { Store } from './store';

/** Whether the server answers. `since`: when it was last heard, milliseconds since 1970. */
export type Reach = { up: true } | { up: false; since: number };

/** Waits between two looks while it does not answer, in milliseconds; the last one repeats. */
const waits = [1000, 2000, 4000, 5000];
/** How long one look may take. Milliseconds. */
const lookMs = 5000;

interface Options {
  /** Resolves when the server answered anything at all; rejects when it did not, or when the signal fires. */
  look: (signal: AbortSignal) => Promise<unknown>;
  clock: Clock;
}

/**
 * Knows whether the server can be reached. The browser's own `offline` is only a reason to look: a machine without a
 * network still reaches a server of its own, and one with a network may not reach this one.
 */
export class Reachability {
  readonly state = new Store<Reach>({ up: true });
  private heardAt: number;
  private looking: AbortController | null = null;
  private timer: Timer | null = null;
  private failures = 0;

  constructor(private readonly options: Options) {
    this.heardAt = options.clock.now();
  }

  /** Something answered. */
  heard(): void {
    this.heardAt = this.options.clock.now();
    this.failures = 0;
    this.timer?.cancel();
    this.timer = null;
    if (!this.state.get().up) this.state.set({ up: true });
  }

  /** Something did not answer, or may not: looks at once, one look at a time. */
  suspect(): void {
    this.timer?.cancel();
    this.timer = null;
    if (this.looking === null) void this.look();
  }

  private async look(): Promise<void> {
    const { clock, look } = this.options;
    const controller = new AbortController();
    this.looking = controller;
    const deadline = clock.after(lookMs, () => controller.abort());
    const answered = await look(controller.signal).then(
      () => true,
      () => false,
    );
    deadline.cancel();
    this.looking = null;
    if (answered) return this.heard();
    if (this.state.get().up) this.state.set({ up: false, since: this.heardAt });
    const wait = waits[Math.min(this.failures, waits.length - 1)] ?? lookMs;
    this.failures += 1;
    this.timer?.cancel();
    this.timer = clock.after(wait, () => this.suspect());
  }
}

export const reachability = new Reachability({
  clock: browserClock,
  look: (signal) => fetch('/health', { cache: 'no-store', signal }),
});

/** Follows what the browser knows of its network. Called once, when the console starts. */
export const watchNetwork = (): void => {
  const suspect = (): void => reachability.suspect();
  window.addEventListener('offline', suspect);
  window.addEventListener('online', suspect);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && !reachability.state.get().up) suspect();
  });
};
