import type { Logger } from 'pino';
import type { ClusterTurn, ClusterTurns } from './cluster-turns';
import type { PeriodicMetrics } from './periodic-metrics';
import type { PeriodicWork } from './periodic-work';

/** A process does not ask more often than so whether a work is due. */
const shortestMs = 20;
/** Work that failed is tried again after its pause, or this time when that is shorter. */
const failedMs = 60_000;
const jitter = 0.1;

/** From the end of a run to the next one, milliseconds. What a stop cut off, another process may do at once. */
const pauseAfter = {
  done: (everyMs: number) => everyMs,
  failed: (everyMs: number) => Math.min(everyMs, failedMs),
  stopped: () => 0,
};
type Outcome = keyof typeof pauseAfter;

const stopped = new Error('the process stops');
const late = new Error('it takes longer than it may');
const lost = new Error('another process has taken over');

/**
 * One periodic work in one process: at most one run at a time, each with a deadline. Pauses are measured by the
 * process's monotonic clock and turns by the database's, so no step of a wall clock matters.
 */
export class PeriodicLoop {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private abort: AbortController | undefined;
  private open = false;
  /** Failures in a row: what stays broken is told once, and counted. */
  private failures = 0;

  constructor(
    private readonly work: PeriodicWork,
    private readonly turns: ClusterTurns | undefined,
    private readonly leaseMs: number,
    private readonly metrics: PeriodicMetrics,
    private readonly log: Logger,
  ) {
    metrics.known(work.name);
  }

  start(): void {
    this.open = true;
    // Whether a cluster's work is due, the database knows.
    const first = this.work.atStart === true || this.work.scope === 'cluster';
    this.schedule(first ? 0 : this.work.everyMs);
  }

  /** No run begins any more, and the one that runs is told. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.open = false;
    clearTimeout(this.timer);
    this.abort?.abort(stopped);
    await this.running;
  }

  private schedule(ms: number): void {
    if (!this.open) return;
    const pause = Math.max(ms, shortestMs);
    this.timer = setTimeout(
      () => {
        this.running = this.round().then((next) => {
          this.running = undefined;
          this.schedule(next);
        });
      },
      ms <= 0 ? 0 : pause * (1 + jitter * Math.random()),
    ).unref();
  }

  /** Never rejects. Resolves with the pause until the next one, milliseconds. */
  private async round(): Promise<number> {
    const { name, everyMs } = this.work;
    if (!this.turns) return pauseAfter[await this.once()](everyMs);
    try {
      const turn = await this.turns.take(name, everyMs, this.leaseMs);
      if ('waitMs' in turn) return Math.min(Math.max(turn.waitMs, shortestMs), everyMs);
      const pause = pauseAfter[await this.once(turn)](everyMs);
      await this.turns.end(name, turn, pause);
      return pause;
    } catch (error) {
      this.complain({ err: error }, 'whose turn it is could not be asked; tried again');
      return Math.min(everyMs, failedMs);
    }
  }

  private async once(turn?: ClusterTurn): Promise<Outcome> {
    const { name, deadlineMs } = this.work;
    const began = performance.now();
    const abort = new AbortController();
    this.abort = abort;
    if (!this.open) abort.abort(stopped);
    const deadline = setTimeout(() => {
      this.complain({ deadlineMs }, 'periodic work takes longer than it may');
      abort.abort(late);
    }, deadlineMs).unref();
    const renewing = turn && this.renewing(turn, abort);
    let failed = false;
    try {
      await this.work.run(abort.signal);
    } catch (error) {
      failed = true;
      if (!abort.signal.aborted) this.complain({ err: error }, 'periodic work failed; it is tried again');
    } finally {
      clearTimeout(deadline);
      clearInterval(renewing);
      this.abort = undefined;
    }
    const { reason } = abort.signal as { reason: unknown };
    const outcome: Outcome =
      reason === stopped ? 'stopped' : failed || reason === late || reason === lost ? 'failed' : 'done';
    this.metrics.ended(name, (performance.now() - began) / 1000, outcome === 'failed');
    if (outcome === 'done' && this.failures > 0) {
      this.log.info({ work: name, failures: this.failures }, 'periodic work goes well again');
      this.failures = 0;
    }
    return outcome;
  }

  private complain(why: object, words: string): void {
    this.failures += 1;
    this.log[this.failures === 1 ? 'warn' : 'debug']({ ...why, work: this.work.name, failures: this.failures }, words);
  }

  /**
   * Keeps the turn while the work runs in time; what runs on after its deadline is no longer held against others. Who
   * slept through the whole lease knows that by its own clock, before any answer that waited meanwhile goes on.
   */
  private renewing(turn: ClusterTurn, abort: AbortController): NodeJS.Timeout {
    let renewedAt = performance.now();
    return setInterval(() => {
      if (abort.signal.aborted) return;
      const asked = performance.now();
      if (asked - renewedAt > this.leaseMs) return abort.abort(lost);
      this.turns?.renew(this.work.name, turn, this.leaseMs).then(
        (ours) => {
          if (ours) renewedAt = asked;
          else abort.abort(lost);
        },
        (error: unknown) => this.log.debug({ err: error, work: this.work.name }, 'a turn could not be renewed'),
      );
    }, this.leaseMs / 3).unref();
  }
}
