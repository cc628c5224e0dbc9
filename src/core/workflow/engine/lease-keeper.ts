import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Logging } from '../../telemetry/logging';
import type { RunState } from '../run/run-state';
import { TaskRunRepository } from '../storage/task-run.repository';
import { WorkflowSettings } from '../workflow-settings';
import { WorkerIdentity } from './worker-identity';

/**
 * Renews the leases of all running tasks in one statement, and aborts a run whose lease could not be renewed before it
 * ends.
 */
@injectable()
export class LeaseKeeper {
  private readonly log: Logger;
  private readonly owner: string;
  private readonly leaseMs: number;
  private readonly held = new Map<string, RunState>();
  private renewal: NodeJS.Timeout | undefined;
  private watchdog: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: TaskRunRepository,
    worker: WorkerIdentity,
    settings: WorkflowSettings,
    logging: Logging,
  ) {
    this.owner = worker.owner;
    this.leaseMs = settings.leaseMs;
    this.log = logging.for('workflow');
  }

  add(run: RunState): void {
    this.held.set(run.task.id, run);
    this.renewal ??= setTimeout(() => void this.renew(), this.leaseMs / 3).unref();
    // eslint-disable-next-line no-restricted-globals -- ends with the last lease held
    this.watchdog ??= setInterval(() => this.watch(), Math.max(20, this.leaseMs / 20)).unref();
  }

  remove(run: RunState): void {
    if (this.held.get(run.task.id) === run) this.held.delete(run.task.id);
    if (this.held.size > 0) return;
    clearTimeout(this.renewal);
    clearInterval(this.watchdog);
    this.renewal = this.watchdog = undefined;
  }

  private async renew(): Promise<void> {
    const sent = performance.now();
    try {
      for (const id of await this.store.renew(this.owner, [...this.held.keys()], this.leaseMs)) {
        const run = this.held.get(id);
        if (run) run.leaseEnd = Math.max(run.leaseEnd, sent + this.leaseMs);
      }
    } catch (error) {
      this.log.warn({ err: error }, 'leases could not be renewed');
    } finally {
      this.renewal = this.held.size > 0 ? setTimeout(() => void this.renew(), this.leaseMs / 3).unref() : undefined;
    }
  }

  /** Stops a run a tenth of a lease before it ends: what it has under way must not outlast it. */
  private watch(): void {
    const limit = performance.now() + this.leaseMs / 10;
    for (const run of this.held.values()) {
      if (run.leaseEnd <= limit && !run.abort.signal.aborted)
        run.abort.abort(new Error('the lease ends and could not be renewed'));
    }
  }
}
