/** Rounds begin at least so far apart. Milliseconds. */
const gatherMs = 10;

/**
 * Tells channels that something is to be found in the database, after it was committed: a NOTIFY inside a transaction
 * makes its commit wait for that of every other one with a NOTIFY, so that no two share a write to the disk. All that
 * is announced within a moment goes in one statement. An announcement may be lost with its process: who listens looks
 * for itself now and then.
 */
export class Notifier {
  private readonly pending = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> = Promise.resolve();
  private sentAt = Number.NEGATIVE_INFINITY;

  /** @param send runs a statement */
  constructor(private readonly send: (sql: string, params: readonly unknown[]) => Promise<unknown>) {}

  notify(channel: string): void {
    this.pending.add(channel);
    this.timer ??= setTimeout(() => this.round(), Math.max(0, this.sentAt + gatherMs - performance.now()));
  }

  /** Sends what is left. Never throws. */
  async close(): Promise<void> {
    if (this.timer) {
      clearTimeout(this.timer);
      this.round();
    }
    await this.sending;
  }

  private round(): void {
    this.timer = undefined;
    this.sentAt = performance.now();
    const channels = [...this.pending];
    this.pending.clear();
    const sent = this.send(`SELECT pg_notify(channel, '') FROM unnest($1::text[]) AS channel`, [channels]).then(
      () => undefined,
      () => undefined,
    );
    this.sending = Promise.all([this.sending, sent]).then(() => undefined);
  }
}
