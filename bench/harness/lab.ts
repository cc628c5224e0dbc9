import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import type { BenchPostgres } from './postgres';

/** A figure's own folder and what has to be removed after it, whatever happens. */
export class Lab {
  /** Short, for Unix sockets are made below it. */
  readonly directory: string;
  private readonly cleanups: (() => Promise<void> | void)[] = [];

  constructor(
    readonly postgres: BenchPostgres,
    private readonly quiet: boolean,
  ) {
    this.directory = mkdtempSync('/tmp/vcb-');
    chmodSync(this.directory, 0o755);
    this.defer(() => {
      if (process.env['VC_STACK_BENCH_KEEP'] === undefined) rmSync(this.directory, { recursive: true, force: true });
    });
  }

  /** Runs at `close`, the last one first. */
  defer(cleanup: () => Promise<void> | void): void {
    this.cleanups.push(cleanup);
  }

  /** What goes on, for who waits. */
  say(text: string): void {
    if (!this.quiet) process.stderr.write(`  ${text}\n`);
  }

  async close(): Promise<void> {
    for (let cleanup = this.cleanups.pop(); cleanup; cleanup = this.cleanups.pop()) {
      try {
        await cleanup();
      } catch (error) {
        process.stderr.write(`cleaning up: ${String(error)}\n`);
      }
    }
  }
}
