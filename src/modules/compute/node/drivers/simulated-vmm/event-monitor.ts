import { writeSync } from 'node:fs';

/** The event stream: pretty JSON and a blank line each, best effort. Timestamps count from the start of the VMM. */
export class EventMonitor {
  private readonly start = process.hrtime.bigint();
  private readonly listeners = new Set<(name: string) => void>();

  constructor(
    /** Open file to write to; null for none. */
    private readonly fd: number | null,
    private readonly loss: () => number,
  ) {}

  emit(source: string, event: string, properties: Record<string, string> | null = null): void {
    if (Math.random() < this.loss()) return;
    for (const listener of this.listeners) listener(`${source}/${event}`);
    if (this.fd === null) return;
    const elapsed = process.hrtime.bigint() - this.start;
    const timestamp = { secs: Number(elapsed / 1_000_000_000n), nanos: Number(elapsed % 1_000_000_000n) };
    try {
      writeSync(this.fd, `${JSON.stringify({ timestamp, source, event, properties }, null, 2)}\n\n`);
    } catch (error) {
      // A full or closed pipe loses the event, as there.
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== 'EAGAIN' && code !== 'EPIPE') throw error;
    }
  }

  /** For in-process drivers, which have no stream to read. */
  subscribe(listener: (name: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
