/**
 * Whether a sender keeps the least pace that it must, over a window. Only the time in which it is waited for counts: a
 * slow disk of ours is not its fault. Times in milliseconds of any monotonic clock.
 */
export class LeastPace {
  private waitedMs = 0;
  private bytes = 0;
  private since: number | null = null;

  /**
   * @param bytesPerSecond below this, on average over the window, it is too slow, as it is when nothing came at all
   * @param windowMs of waiting, after which the average is looked at and a new window begins
   */
  constructor(
    readonly bytesPerSecond: number,
    readonly windowMs: number,
  ) {}

  /** From now on the sender is waited for. */
  waiting(now: number): void {
    this.since ??= now;
  }

  /** Bytes came, and are dealt with now. */
  arrived(now: number, bytes: number): void {
    this.waitedMs += this.since === null ? 0 : now - this.since;
    this.since = null;
    this.bytes += bytes;
  }

  /** Looks at the window when it is over. */
  tooSlow(now: number): boolean {
    const waited = this.waitedMs + (this.since === null ? 0 : now - this.since);
    if (waited < this.windowMs) return false;
    const slow = this.bytes === 0 || this.bytes * 1000 < this.bytesPerSecond * waited;
    this.waitedMs = 0;
    this.bytes = 0;
    if (this.since !== null) this.since = now;
    return slow;
  }
}
