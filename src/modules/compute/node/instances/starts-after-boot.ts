import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Config } from '../../../../core/config/config';
import { ObservedReporter } from '../../../../core/m2m/reports/observed';
import { Logging } from '../../../../core/telemetry/logging';
import type { ComputeConfig } from '../../contract/compute.config';
import { InstanceMachines } from './instance-machines';
import type { InstanceRecord } from './instance-record';
import { InstanceRecords } from './instance-records';
import { startFailed } from './start-failed';

/**
 * After a restart of the whole host: starts again what should run, in the order in which it was started before, a few at
 * a time, while the agent already answers. What a restart of the agent cuts short goes on with the next one, for a
 * record keeps the boot in which its instance was last started.
 */
@injectable()
export class StartsAfterBoot {
  private readonly atOnce: number;
  private readonly log: Logger;
  private queue: string[] = [];
  private working: Promise<unknown> = Promise.resolve();

  constructor(
    config: Config,
    private readonly records: InstanceRecords,
    private readonly machines: InstanceMachines,
    private readonly reporter: ObservedReporter,
    logging: Logging,
  ) {
    this.atOnce = config.section<ComputeConfig>('compute').startsAtOnce;
    this.log = logging.for('instances');
  }

  /** Begins, and does not wait. */
  begin(records: readonly InstanceRecord[]): void {
    const due = records.filter((record) => this.isDue(record));
    if (due.length === 0) return;
    this.log.info({ instances: due.length, atOnce: this.atOnce }, 'the host restarted: starting its instances again');
    this.queue = due.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)).map(({ instanceId }) => instanceId);
    this.working = Promise.all(Array.from({ length: this.atOnce }, () => this.work()));
  }

  /** Begins no further one, and waits for those that are being started. */
  async stop(): Promise<void> {
    this.queue = [];
    await this.working;
  }

  /** Resolves when all have been started, or have failed. */
  done(): Promise<unknown> {
    return this.working;
  }

  /** What boots from a temporary disk was being looked at: whoever did so starts it again, or ends the rescue. */
  isDue({ power, handle, suspended, bootId, spec }: InstanceRecord): boolean {
    return (
      spec.rescue !== true && power === 'on' && handle === null && suspended === null && bootId !== this.machines.bootId
    );
  }

  private async work(): Promise<void> {
    for (let id = this.queue.shift(); id !== undefined; id = this.queue.shift()) {
      const instanceId = id;
      await this.machines
        .exclusively(instanceId, () => this.startAgain(instanceId))
        .catch((error: unknown) => this.log.error({ err: error, instanceId }, 'starting the instance again failed'));
      this.reporter.changed('instances');
    }
  }

  private async startAgain(instanceId: string): Promise<void> {
    // The record of now: it may have been started, stopped or removed while it waited.
    const record = this.records.get(instanceId);
    if (!record || !this.isDue(record)) return;
    await this.machines.turnOn(record).catch(async (error: unknown) => {
      this.log.error({ instanceId, err: error }, 'an instance could not be started again');
      startFailed(record, "it could not be started after the host's restart", error);
      // Tried in this boot: only one that comes after it tries again.
      record.bootId = this.machines.bootId;
      await this.records.save(record);
    });
  }
}

/** Those that ran before others had perhaps what the others need. */
const orderOf = ({ startedAt, instanceId }: InstanceRecord): string => `${startedAt ?? ''} ${instanceId}`;
