import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { isRunning } from '../../../../core/host/processes/process-identity';
import { together } from '../../../../core/host/together';
import { ObservedReporter } from '../../../../core/m2m/reports/observed';
import { PeriodicWorks, type PeriodicWork } from '../../../../core/periodic/periodic-work';
import { Logging } from '../../../../core/telemetry/logging';
import { InstanceMachines } from './instance-machines';
import type { InstanceRecord } from './instance-record';
import { InstanceRecords } from './instance-records';

const lostOf = ({ handle }: InstanceRecord): string[] =>
  (handle?.beside ?? []).filter(({ process }) => !isRunning(process)).map(({ name }) => name);

/**
 * Programs beside a machine that end although it runs: it goes on, and is told of. Its VMM does not start another one, and a
 * guest that had begun to use it would not know the new one.
 */
@injectable()
export class LostCompanions extends PeriodicWorks {
  private readonly log: Logger;

  constructor(
    private readonly records: InstanceRecords,
    private readonly machines: InstanceMachines,
    private readonly reporter: ObservedReporter,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('instances');
  }

  override periodicWork(): PeriodicWork[] {
    return [
      {
        name: 'compute.lost-companions',
        everyMs: 5_000,
        scope: 'process',
        deadlineMs: 120_000,
        run: () => this.look(),
      },
    ];
  }

  async look(): Promise<void> {
    const found = this.records.all().filter((record) => lostOf(record).length > record.lost.length);
    // One that is held by something that takes its time does not keep the others.
    await together(
      ...found.map(({ instanceId }) => this.machines.exclusively(instanceId, () => this.note(instanceId))),
    );
  }

  private async note(instanceId: string): Promise<void> {
    // The record of now: its machine may have ended while we waited, and they with it.
    const record = this.records.get(instanceId);
    if (!record?.handle || !isRunning(record.handle.process)) return;
    const lost = lostOf(record);
    if (lost.length <= record.lost.length) return;
    record.lost = lost;
    await this.records.save(record);
    this.log.warn({ instanceId, lost }, 'a program beside the machine has ended');
    this.reporter.changed('instances');
  }
}
