import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { EmbeddedPostgres } from './embedded-postgres';

export interface WatchTimes {
  /** Between two looks, milliseconds. */
  lookMs: number;
  /** Pause after a start that failed; doubles with each up to `longestPauseMs`. */
  pauseMs: number;
  longestPauseMs: number;
}

const usual: WatchTimes = { lookMs: 500, pauseMs: 250, longestPauseMs: 15_000 };

/**
 * Starts the embedded PostgreSQL again when it is gone: killed, crashed, out of memory. One that is there and does not
 * answer is left alone: it may be busy with its recovery.
 */
export class EmbeddedPostgresWatch {
  private readonly stopping = new AbortController();
  private watching: Promise<void> | undefined;
  /** Starts in a row that failed; null while it runs. */
  private failedStarts: number | null = null;

  constructor(
    private readonly server: Pick<EmbeddedPostgres, 'runs' | 'start'>,
    private readonly log: Logger,
    private readonly times: WatchTimes = usual,
  ) {}

  start(): void {
    this.watching ??= this.watch();
  }

  /** Waits for a start that is under way, so that whoever stops the server next finds it whole. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.watching;
  }

  /** What is wrong, in words for `/health/deep`; undefined while the server is there. */
  get trouble(): string | undefined {
    if (this.failedStarts === null) return undefined;
    return this.failedStarts === 0
      ? 'the embedded PostgreSQL ended and is being started again'
      : `the embedded PostgreSQL ended and could not be started ${this.failedStarts} times; it is tried on`;
  }

  private async watch(): Promise<void> {
    while (await this.pause(this.times.lookMs)) {
      if (await this.server.runs()) continue;
      this.failedStarts = 0;
      this.log.error('the embedded PostgreSQL is gone: starting it again');
      await this.restart();
    }
  }

  private async restart(): Promise<void> {
    for (
      let wait = this.times.pauseMs;
      !this.stopping.signal.aborted;
      wait = Math.min(wait * 2, this.times.longestPauseMs)
    ) {
      try {
        await this.server.start();
        this.failedStarts = null;
        return;
      } catch (error) {
        this.failedStarts = (this.failedStarts ?? 0) + 1;
        // Its children of before may hold the shared memory for another moment.
        this.log.warn(
          { err: error, failedStarts: this.failedStarts },
          'the embedded PostgreSQL could not be started; it is tried again',
        );
        await this.pause(wait);
      }
    }
  }

  /** False when it is time to end. */
  private pause(ms: number): Promise<boolean> {
    return delay(ms, true, { signal: this.stopping.signal }).catch(() => false);
  }
}
