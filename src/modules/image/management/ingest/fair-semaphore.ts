interface Waiting {
  key: string;
  go: () => void;
}

/**
 * Turns at something that only a few may do at once: of those who wait, the key with the fewest at it goes first, then
 * whose turn was longest ago.
 */
export class FairSemaphore {
  private readonly inside = new Map<string, number>();
  /** Number of its last turn, by key. Only of those that wait or are inside. */
  private readonly served = new Map<string, number>();
  private readonly waiting: Waiting[] = [];
  private turns = 0;

  /**
   * @param all that may be inside
   * @param perKey of the same key
   */
  constructor(
    private readonly all: number,
    private readonly perKey: number,
  ) {}

  /** Runs `work` when it is its turn. Rejects with the signal's reason when that fires before. */
  async run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.enter(key, signal);
    try {
      return await work();
    } finally {
      const left = (this.inside.get(key) ?? 1) - 1;
      if (left > 0) this.inside.set(key, left);
      else this.inside.delete(key);
      this.next();
      this.forget(key);
    }
  }

  private forget(key: string): void {
    if (!this.inside.has(key) && !this.waiting.some((w) => w.key === key)) this.served.delete(key);
  }

  private enter(key: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.waiting.splice(this.waiting.indexOf(mine), 1);
        this.forget(key);
        reject(signal.reason as Error);
      };
      const mine: Waiting = {
        key,
        go: () => {
          signal.removeEventListener('abort', stop);
          resolve();
        },
      };
      signal.addEventListener('abort', stop, { once: true });
      this.waiting.push(mine);
      this.next();
    });
  }

  private next(): void {
    for (;;) {
      let inside = 0;
      for (const count of this.inside.values()) inside += count;
      if (inside >= this.all) return;
      const [first] = this.waiting
        .filter(({ key }) => (this.inside.get(key) ?? 0) < this.perKey)
        .sort(
          (a, b) =>
            (this.inside.get(a.key) ?? 0) - (this.inside.get(b.key) ?? 0) ||
            (this.served.get(a.key) ?? 0) - (this.served.get(b.key) ?? 0),
        );
      if (!first) return;
      this.waiting.splice(this.waiting.indexOf(first), 1);
      this.inside.set(first.key, (this.inside.get(first.key) ?? 0) + 1);
      this.served.set(first.key, ++this.turns);
      first.go();
    }
  }
}
