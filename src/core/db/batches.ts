const largest = 200;

interface Waiting<I, O> {
  item: I;
  resolve: (outcome: O) => void;
  reject: (error: unknown) => void;
}

/**
 * Gathers what comes one by one and has it done together: what comes alone goes at once, what comes within a moment of
 * others, or while they are at work, goes with the next batch. One batch is at work at a time.
 */
export class Batches<I, O> {
  private waiting: Waiting<I, O>[] = [];
  private timer: NodeJS.Timeout | undefined;
  private working = false;
  private startedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param work the outcome of each item, in their order
   * @param apartMs batches begin at least so far apart; 0: what comes while one is at work makes the next. Milliseconds
   */
  constructor(
    private readonly work: (items: readonly I[]) => Promise<readonly O[]>,
    private readonly apartMs: number,
  ) {}

  /** The item's own outcome. Rejects as the whole batch does. */
  add(item: I): Promise<O> {
    return new Promise<O>((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.working || this.timer || this.waiting.length === 0) return;
    const ms = this.startedAt + this.apartMs - performance.now();
    if (ms <= 0) void this.round();
    else
      this.timer = setTimeout(() => {
        this.timer = undefined;
        void this.round();
      }, ms);
  }

  private async round(): Promise<void> {
    const batch = this.waiting.splice(0, largest);
    this.working = true;
    this.startedAt = performance.now();
    try {
      const outcomes = await this.work(batch.map(({ item }) => item));
      if (outcomes.length !== batch.length) throw new Error('a batch gave an outcome for each of its items');
      for (const [index, outcome] of outcomes.entries()) batch[index]?.resolve(outcome);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.working = false;
      this.schedule();
    }
  }
}
