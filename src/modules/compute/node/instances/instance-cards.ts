import { injectable } from 'inversify';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { Config } from '../../../../core/config/config';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { PeriodicWorks, type PeriodicWork } from '../../../../core/periodic/periodic-work';
import { Logging } from '../../../../core/telemetry/logging';
import type { ComputeConfig } from '../../contract/compute.config';
import type { instanceDevices, ObservedInstance } from '../../contract/instance.verbs';
import type { VmHandle } from '../drivers/vmm-driver';
import { VmmDrivers } from '../drivers/vmm-drivers';
import { InstanceManager } from './instance.manager';
import type { InstanceRecord } from './instance-record';
import { InstanceRecords } from './instance-records';
import { observedAbsent, observedOf } from './observed-instance';
import { VmSpecs } from './vm-specs';

type DevicesArgs = z.output<typeof instanceDevices.args>;

/**
 * The network cards of instances while they run. What an instance shall have is written down before anything is done,
 * and what its VMM has is asked, never remembered: a call that was cut, or comes twice, ends where the first would have.
 */
@injectable()
export class InstanceCards extends PeriodicWorks {
  private readonly log: Logger;

  constructor(
    private readonly instances: InstanceManager,
    private readonly records: InstanceRecords,
    private readonly drivers: VmmDrivers,
    private readonly specs: VmSpecs,
    private readonly config: Config,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('instances');
  }

  override periodicWork(): PeriodicWork[] {
    return [
      {
        name: 'compute.late-cards',
        everyMs: 5_000,
        scope: 'process',
        deadlineMs: 120_000,
        run: () => this.settleLate(),
      },
    ];
  }

  /**
   * The instance has the cards of the specification. Throws `VerbFailure` `stale_generation`, `instance_paused`, and
   * what the driver throws: then it has those from before.
   */
  bring({ instanceId, generation, spec }: DevicesArgs, signal: AbortSignal): Promise<ObservedInstance> {
    return this.instances.exclusive(instanceId, signal, async (aborted) => {
      this.records.refuseLost(instanceId);
      const record = this.records.upTo(instanceId, generation);
      if (!record) return observedAbsent(instanceId);
      const before = record.spec;
      Object.assign(record, { generation, spec });
      await this.records.save(record);
      try {
        if (record.handle) await this.converge(record, record.handle, aborted);
      } catch (error) {
        record.spec = { ...spec, ports: before.ports };
        await this.records.save(record);
        if (aborted.aborted)
          throw new VerbFailure('interrupted', 'Something else was asked of the instance meanwhile.', false);
        throw error;
      }
      return observedOf(record);
    });
  }

  /** A card that a guest let go after its deadline is brought back: its instance was said to have it still. */
  async settleLate(): Promise<void> {
    const waiting = this.records.all().filter(({ leaving }) => leaving.length > 0);
    for (const { instanceId } of waiting)
      await this.instances
        .exclusive(instanceId, AbortSignal.timeout(60_000), async () => {
          const record = this.records.get(instanceId);
          if (record?.handle) await this.settle(record, record.handle);
        })
        .catch((error: unknown) => this.log.warn({ err: error, instanceId }, 'a card could not be brought back yet'));
  }

  private async settle(record: InstanceRecord, handle: VmHandle): Promise<void> {
    const driver = this.drivers.byKind(handle.driver);
    if ((await driver.state(handle)) !== 'running') return;
    const present = await driver.nics(handle);
    for (const id of record.leaving.filter((one) => !present.includes(one))) {
      if (record.spec.ports.includes(id)) {
        await this.attach(record, handle, id);
        this.log.info({ instanceId: record.instanceId, port: id }, 'a guest let a card go late: it has it again');
      }
      record.leaving = record.leaving.filter((one) => one !== id);
      await this.records.save(record);
    }
  }

  private async converge(record: InstanceRecord, handle: VmHandle, signal: AbortSignal): Promise<void> {
    const driver = this.drivers.byKind(handle.driver);
    const state = await driver.state(handle);
    // It has ended, and whoever watches it will say so: its next start has the cards.
    if (state === 'stopped') return;
    if (state === 'paused')
      throw new VerbFailure('instance_paused', 'It is paused: its guest sees no device come or go.', true);
    try {
      const present = await driver.nics(handle);
      for (const id of record.spec.ports.filter((one) => !present.includes(one))) {
        signal.throwIfAborted();
        await this.attach(record, handle, id);
      }
      for (const id of present.filter((one) => !record.spec.ports.includes(one)))
        await this.detach(record, handle, id, signal);
    } catch (error) {
      const now = await driver.state(handle).catch(() => state);
      if (now !== 'stopped') throw error;
    }
  }

  private async attach(record: InstanceRecord, handle: VmHandle, portId: string): Promise<void> {
    const { nic, netns } = await this.specs.nic(record, portId);
    await this.drivers.byKind(handle.driver).attachNic(handle, nic, netns);
  }

  private async detach(record: InstanceRecord, handle: VmHandle, portId: string, signal: AbortSignal): Promise<void> {
    const { detachSeconds } = this.config.section<ComputeConfig>('compute');
    // Noted first: an agent that is cut here looks after it too.
    record.leaving = [...record.leaving.filter((one) => one !== portId), portId];
    await this.records.save(record);
    await this.drivers.byKind(handle.driver).detachNic(handle, portId, detachSeconds * 1000, signal);
    record.leaving = record.leaving.filter((one) => one !== portId);
    await this.records.save(record);
  }
}
