import type { Clock, Timer } from './clock';

/** A clock that a test moves. Timers run in order of their time, also those that a timer sets. */
export class FakeClock implements Clock {
  private time = 1_000_000;
  private next = 0;
  private readonly timers = new Map<number, { at: number; run: () => void }>();

  readonly now = (): number => this.time;
  readonly random = (): number => 0.5;

  readonly after = (ms: number, run: () => void): Timer => {
    const id = this.next++;
    this.timers.set(id, { at: this.time + ms, run });
    return { cancel: () => void this.timers.delete(id) };
  };

  get waiting(): number {
    return this.timers.size;
  }

  /** Lets time pass. Between two timers, promises settle. */
  async pass(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      await settle();
      const due = [...this.timers.entries()]
        .filter(([, timer]) => timer.at <= end)
        .sort(([, a], [, b]) => a.at - b.at)[0];
      if (due === undefined) break;
      const [id, { at, run }] = due;
      this.timers.delete(id);
      this.time = at;
      run();
    }
    this.time = end;
  }
}

/** Resolves when all that promises had to do is done. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
