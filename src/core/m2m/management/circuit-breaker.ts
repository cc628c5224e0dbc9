export type BreakerState = 'closed' | 'open' | 'half-open';

/**
 * Stops calls to a node that does not answer, so that they fail at once instead of each waiting for its deadline. After
 * `openMs` one call is let through as a probe: its success closes the breaker, its failure opens it again.
 */
export class CircuitBreaker {
  private failures = 0;
  private openedAt: number | undefined;
  private probing = false;

  constructor(
    private readonly threshold: number,
    private readonly openMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get state(): BreakerState {
    if (this.openedAt === undefined) return 'closed';
    return this.now() - this.openedAt >= this.openMs ? 'half-open' : 'open';
  }

  /** True when a call may go out; it must then report `success`, `failure` or `release`. */
  admit(): boolean {
    const state = this.state;
    if (state === 'closed') return true;
    if (state === 'open' || this.probing) return false;
    this.probing = true;
    return true;
  }

  success(): void {
    this.failures = 0;
    this.openedAt = undefined;
    this.probing = false;
  }

  failure(): void {
    this.failures += 1;
    if (this.openedAt !== undefined || this.failures >= this.threshold) this.openedAt = this.now();
    this.probing = false;
  }

  /** The call was given up by its caller: it proves nothing. */
  release(): void {
    this.probing = false;
  }

  /** Skips the rest of the open time. */
  nudge(): void {
    if (this.openedAt !== undefined) this.openedAt = this.now() - this.openMs;
  }
}
