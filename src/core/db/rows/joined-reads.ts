/** Statements that are at work at a time: while one is, what comes waits a little, and goes with others. */
const mostAtWork = 2;

interface Waiting<V> {
  resolve: (value: V | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Reads that are asked for one by one, by many who do not know of each other, and done together: those that come in the
 * same turn of the event loop, or while others are at work, are one statement. Each begins after it was asked for, so
 * nobody is told what was so before. What it gives may go to several: they may not change it.
 */
export class JoinedReads<C, V> {
  private asked = new Map<string, Waiting<V>[]>();
  private atWork = 0;
  private scheduled = false;

  /**
   * @param read what there is of the keys, by key
   * @param most keys that it takes at a time
   */
  constructor(
    private readonly read: (context: C, keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
    private readonly most: number,
  ) {}

  /**
   * What the key stands for; undefined when there is nothing. Rejects as the statement that it was part of.
   * @param context of all who ask the same one: with it the statement runs
   */
  of(context: C, key: string): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      const waiting = this.asked.get(key);
      if (waiting) waiting.push({ resolve, reject });
      else this.asked.set(key, [{ resolve, reject }]);
      this.schedule(context);
    });
  }

  private schedule(context: C): void {
    if (this.scheduled || this.atWork >= mostAtWork || this.asked.size === 0) return;
    this.scheduled = true;
    // All that this turn of the event loop brings is there by then.
    setImmediate(() => {
      this.scheduled = false;
      void this.begin(context);
    });
  }

  private async begin(context: C): Promise<void> {
    const taken = [...this.asked].slice(0, this.most);
    for (const [key] of taken) this.asked.delete(key);
    this.atWork += 1;
    this.schedule(context);
    try {
      const found = await this.read(
        context,
        taken.map(([key]) => key),
      );
      for (const [key, waiting] of taken) for (const { resolve } of waiting) resolve(found.get(key));
    } catch (error) {
      for (const [, waiting] of taken) for (const { reject } of waiting) reject(error);
    } finally {
      this.atWork -= 1;
      this.schedule(context);
    }
  }
}
