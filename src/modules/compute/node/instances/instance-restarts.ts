import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Config } from '../../../../core/config/config';
import { ObservedReporter } from '../../../../core/m2m/reports/observed';
import { Logging } from '../../../../core/telemetry/logging';
import { within, type Budget } from './guest-life';
import { InstanceMachines } from './instance-machines';
import type { InstanceRecord } from './instance-record';
import { InstanceRecords } from './instance-records';
import { actionAfter } from './machine-policy';
import { restartBudget } from './restart-budget';
import { startFailed } from './start-failed';

/** Milliseconds before the first, second … restart of a budget's window; the last for all further ones. */
const pauses = [1000, 5000, 15_000, 30_000, 60_000] as const;

/**
 * Starts instances again that ended by a failure, where their policy says so: within a budget that is on record, so that
 * no restart of the agent begins it anew, and also while management is away.
 */
@injectable()
export class InstanceRestarts {
  private readonly budget: Budget;
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly log: Logger;
  private stopped = false;

  constructor(
    config: Config,
    private readonly records: InstanceRecords,
    private readonly machines: InstanceMachines,
    private readonly reporter: ObservedReporter,
    logging: Logging,
  ) {
    this.budget = restartBudget(config);
    this.log = logging.for('instances');
    machines.whenFailed((record) => this.consider(record));
  }

  /** No further one. */
  stop(): void {
    this.stopped = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  /** Of an instance that the caller holds and whose machine has ended: says what comes of it, and sees to it. */
  async consider(record: InstanceRecord): Promise<void> {
    const { exit, instanceId } = record;
    if (this.stopped || exit === null || !this.isDue(record)) return;
    record.restarts = within(record.restarts, this.budget, Date.now());
    const { count, windowMs } = this.budget;
    const made = record.restarts.length;
    const next =
      made >= count
        ? `it was started again ${made} times within ${windowMs / 60_000} minutes, and is not any more`
        : `it is started again (${made + 1} of ${count})`;
    record.exit = { ...exit, detail: `${exit.detail}; ${next}` };
    await this.records.save(record);
    this.log.warn({ instanceId, reason: exit.reason, restarts: made, of: count }, next);
    if (made < count) this.plan(instanceId, pauses[Math.min(made, pauses.length - 1)] ?? 0);
  }

  private plan(instanceId: string, pauseMs: number): void {
    clearTimeout(this.timers.get(instanceId));
    const timer = setTimeout(() => {
      this.timers.delete(instanceId);
      void this.machines
        .exclusively(instanceId, () => this.again(instanceId))
        .catch((error: unknown) => this.log.error({ err: error, instanceId }, 'starting the instance again failed'));
    }, pauseMs);
    // A restart that is due is no reason for the agent to live on.
    timer.unref();
    this.timers.set(instanceId, timer);
  }

  private async again(instanceId: string): Promise<void> {
    // The record of now: whatever was asked meanwhile counts.
    const record = this.records.get(instanceId);
    if (this.stopped || !record || !this.isDue(record)) return;
    record.restarts = [...record.restarts, Date.now()];
    try {
      // Counted before it is tried: an agent that dies over it does not try it for ever.
      await this.records.save(record);
      await this.machines.turnOn(record);
      this.log.info({ instanceId, restarts: record.restarts.length }, 'started the instance again');
    } catch (error) {
      this.log.error({ err: error, instanceId }, 'an instance could not be started again');
      startFailed(record, 'it could not be started again', error);
      await this.records.save(record);
      await this.consider(record);
    }
    this.reporter.changed('instances');
  }

  private isDue({ spec, power, handle, exit, bootId }: InstanceRecord): boolean {
    const failed = handle === null && exit?.cause === 'crashed';
    // After a restart of the host everything starts in its turn, whatever its policy.
    return failed && power === 'on' && actionAfter(exit.reason, spec) === 'restart' && bootId === this.machines.bootId;
  }
}
