import { browserClock, type Clock, type Timer } from './clock';
import { reachability, type Reach } from './reachability';
import { Store } from './store';

/** Times are milliseconds since 1970. */
export type ConnectionState =
  | { kind: 'idle' }
  | { kind: 'connecting' }
  | { kind: 'open'; since: number }
  /** Lost, or never made; the next try is at `until`. */
  | { kind: 'waiting'; why: string; until: number }
  /** The server does not answer anything since `since`. Goes on by itself when it does. */
  | { kind: 'offline'; since: number }
  /** The server says no: only the user begins again. */
  | { kind: 'refused'; why: string }
  /** Too many tries in a row: only the user, or a network that comes back, begins again. */
  | { kind: 'given-up'; why: string }
  | { kind: 'closed' };

/** Why a connection ended. `final`: another try would end the same (not allowed, not there). */
export interface Failure {
  why: string;
  final?: boolean;
}

/** One try. What comes of a try that was given up is ignored. */
export interface Attempt {
  /** Fires when the try, or the connection that it made, is to end. */
  readonly signal: AbortSignal;
  opened: () => void;
  lost: (failure: Failure) => void;
}

/**
 * Begins a connection: everything that it opens must end when the attempt's signal fires. A rejection counts as lost.
 */
export type Dial = (attempt: Attempt) => Promise<void> | void;

interface Surroundings {
  clock: Clock;
  /** Whether the server answers at all, and how to have it looked at. */
  reach: { state: Store<Reach>; suspect: () => void };
}

/** How long a try may take. Milliseconds. */
const attemptMs = 15_000;
/** The first wait; it doubles up to the longest. Milliseconds. */
const firstWaitMs = 500;
const longestWaitMs = 10_000;
/** A connection that lasted so long was a good one: the next wait is the first again. Milliseconds. */
const stableMs = 10_000;
/** Tries in a row that fail; with the longest wait about 20 minutes. */
const mostTries = 120;

/**
 * The one state machine of everything in the console that stays connected. At any time there is one connection or one
 * try, never two: whoever asks for another meanwhile changes nothing.
 */
export class Connection {
  readonly state = new Store<ConnectionState>({ kind: 'idle' });
  private current: AbortController | null = null;
  private timer: Timer | null = null;
  private failures = 0;
  private unwatch: (() => void) | null = null;

  constructor(
    private readonly dial: Dial,
    private readonly around: Surroundings = { clock: browserClock, reach: reachability },
  ) {}

  /** Connects, and stays so until `close`. */
  start(): void {
    if (this.state.get().kind !== 'idle') return;
    this.unwatch = this.around.reach.state.subscribe(() => this.reachChanged());
    this.begin();
  }

  /** Tries now, instead of after the wait or never. Does nothing while it is connected or connecting. */
  retryNow(): void {
    const { kind } = this.state.get();
    if (kind === 'offline') this.around.reach.suspect();
    if (kind !== 'waiting' && kind !== 'refused' && kind !== 'given-up') return;
    this.failures = 0;
    this.begin();
  }

  /** Something changed that may let it through: tries now if it waits. A refusal stands. */
  hurry(): void {
    if (this.state.get().kind === 'waiting') this.retryNow();
  }

  /** Ends it for good. */
  close(): void {
    this.unwatch?.();
    this.drop();
    this.state.set({ kind: 'closed' });
  }

  private reachChanged(): void {
    const reach = this.around.reach.state.get();
    const { kind } = this.state.get();
    if (kind === 'refused' || kind === 'closed') return;
    if (!reach.up) {
      this.drop();
      this.state.set({ kind: 'offline', since: reach.since });
    } else if (kind === 'offline' || kind === 'given-up') {
      this.failures = 0;
      this.begin();
    }
  }

  private begin(): void {
    this.drop();
    const reach = this.around.reach.state.get();
    if (!reach.up) return this.state.set({ kind: 'offline', since: reach.since });
    const controller = new AbortController();
    this.current = controller;
    let openedAt: number | null = null;
    const ended = (failure: Failure): void => {
      if (this.current !== controller) return;
      if (openedAt !== null && this.around.clock.now() - openedAt >= stableMs) this.failures = 0;
      this.drop();
      this.after(failure);
    };
    this.state.set({ kind: 'connecting' });
    this.timer = this.around.clock.after(attemptMs, () => ended({ why: 'The server did not answer in time.' }));
    const attempt: Attempt = {
      signal: controller.signal,
      opened: () => {
        if (this.current !== controller || openedAt !== null) return;
        openedAt = this.around.clock.now();
        this.timer?.cancel();
        this.state.set({ kind: 'open', since: openedAt });
      },
      lost: ended,
    };
    void (async () => this.dial(attempt))().catch((error: unknown) =>
      ended({ why: error instanceof Error ? error.message : 'The connection failed.' }),
    );
  }

  private after({ why, final = false }: Failure): void {
    if (final) return this.state.set({ kind: 'refused', why });
    this.around.reach.suspect();
    this.failures += 1;
    if (this.failures >= mostTries) return this.state.set({ kind: 'given-up', why });
    // Half of the wait is by chance, so that the tabs of a server that comes back do not all come at once.
    const whole = Math.min(longestWaitMs, firstWaitMs * 2 ** (this.failures - 1));
    const wait = whole / 2 + (whole / 2) * this.around.clock.random();
    this.state.set({ kind: 'waiting', why, until: this.around.clock.now() + wait });
    this.timer = this.around.clock.after(wait, () => this.begin());
  }

  private drop(): void {
    this.timer?.cancel();
    this.timer = null;
    const { current } = this;
    this.current = null;
    current?.abort();
  }
}
