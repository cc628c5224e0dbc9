interface Waiting<V> {
  resolve: (value: V) => void;
  reject: (error: unknown) => void;
}

/** Reads of one kind: who waits for the next one, and whether one is at work. */
interface Same<V> {
  waiting: Waiting<V>[];
  busy: boolean;
}

/**
 * Reads that are the same, and are asked for at the same time: the pages of all who saw the same event. Those that come
 * in one turn of the event loop are one, and so are those that come while another is at work: they wait for its end,
 * since each begins after it was asked for, so that nobody is told what was so before. What it gives goes to several:
 * they may not change it.
 */
export class SharedReads<V> {
  private readonly same = new Map<string, Same<V>>();

  /**
   * @param key equal for reads that are the same
   * @param read rejects for all who share it
   */
  of(key: string, read: () => Promise<V>): Promise<V> {
    return new Promise((resolve, reject) => {
      const one = this.same.get(key) ?? { waiting: [], busy: false };
      one.waiting.push({ resolve, reject });
      this.same.set(key, one);
      if (!one.busy) this.begin(key, one, read);
    });
  }

  private begin(key: string, one: Same<V>, read: () => Promise<V>): void {
    one.busy = true;
    // All that this turn of the event loop brings is there by then.
    setImmediate(() => {
      const { waiting } = one;
      one.waiting = [];
      const ended = (tell: (each: Waiting<V>) => void): void => {
        if (one.waiting.length > 0) this.begin(key, one, read);
        else this.same.delete(key);
        waiting.forEach(tell);
      };
      const reading = async (): Promise<V> => read();
      reading().then(
        (value) => ended(({ resolve }) => resolve(value)),
        (error: unknown) => ended(({ reject }) => reject(error)),
      );
    });
  }
}
