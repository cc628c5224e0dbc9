import { injectable } from 'inversify';
import { Counter, Gauge } from 'prom-client';
import { Metrics } from '../telemetry/metrics';

/** Periodic work on `/metrics`. Names of works are the product's, so their number is bounded. */
@injectable()
export class PeriodicMetrics {
  private readonly runs: Counter<'work'>;
  private readonly failures: Counter<'work'>;
  private readonly lastRun: Gauge<'work'>;
  private readonly lastSeconds: Gauge<'work'>;

  constructor(metrics: Metrics) {
    const labelNames = ['work'] as const;
    const registers = [metrics.registry];
    this.runs = new Counter({
      name: 'vcstack_periodic_runs_total',
      help: 'Runs of periodic work in this process',
      labelNames,
      registers,
    });
    this.failures = new Counter({
      name: 'vcstack_periodic_failures_total',
      help: 'Runs of periodic work that failed, took longer than they may, or lost their turn',
      labelNames,
      registers,
    });
    this.lastRun = new Gauge({
      name: 'vcstack_periodic_last_run_timestamp_seconds',
      help: 'When the last run of periodic work ended in this process, seconds since 1970',
      labelNames,
      registers,
    });
    this.lastSeconds = new Gauge({
      name: 'vcstack_periodic_last_run_seconds',
      help: 'How long the last run of periodic work took',
      labelNames,
      registers,
    });
  }

  /** From now on the work is there, with zero runs. */
  known(work: string): void {
    this.runs.inc({ work }, 0);
    this.failures.inc({ work }, 0);
  }

  ended(work: string, seconds: number, failed: boolean): void {
    this.runs.inc({ work });
    if (failed) this.failures.inc({ work });
    this.lastRun.set({ work }, Date.now() / 1000);
    this.lastSeconds.set({ work }, seconds);
  }
}
