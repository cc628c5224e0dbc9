import { injectable } from 'inversify';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { Config } from '../../../../core/config/config';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { PeriodicWorks, type PeriodicWork } from '../../../../core/periodic/periodic-work';
import { Logging } from '../../../../core/telemetry/logging';
import type { ComputeConfig } from '../../contract/compute.config';
import type { instanceDevices, ObservedInstance } from '../../contract/instance.verbs';
import type { VmHandle, VmmDriver } from '../drivers/vmm-driver';
import { VmmDrivers } from '../drivers/vmm-drivers';
import { InstanceManager } from './instance.manager';
import type { InstanceRecord } from './instance-record';
import { InstanceRecords } from './instance-records';
import { observedAbsent, observedOf } from './observed-instance';
import { dataDisks, VmSpecs } from './vm-specs';

type DevicesArgs = z.output<typeof instanceDevices.args>;

/** What comes and goes while a machine runs. */
interface Kind {
  /** Member of the specification that says which there shall be. */
  part: 'ports' | 'disks';
  wanted(record: InstanceRecord): string[];
  present(driver: VmmDriver, handle: VmHandle): Promise<string[]>;
  attach(record: InstanceRecord, handle: VmHandle, id: string): Promise<void>;
  detach(driver: VmmDriver, handle: VmHandle, id: string, deadlineMs: number, signal: AbortSignal): Promise<void>;
  /** Without a machine. */
  settle(record: InstanceRecord): Promise<void>;
}

/**
 * The network cards and data disks of instances while they run. What an instance shall have is written down before
 * anything is done, and what its VMM has is asked, never remembered: a call that was cut, or comes twice, ends where the
 * first would have.
 */
@injectable()
export class InstanceDevices extends PeriodicWorks {
  private readonly log: Logger;
  private readonly cards: Kind = {
    part: 'ports',
    wanted: ({ spec }) => spec.ports,
    present: (driver, handle) => driver.nics(handle),
    attach: async (record, handle, id) => {
      const { nic, netns } = await this.specs.nic(record, id);
      await this.drivers.byKind(handle.driver).attachNic(handle, nic, netns);
    },
    detach: (driver, ...rest) => driver.detachNic(...rest),
    // Taps come and go with the document of networks.
    settle: () => Promise.resolve(),
  };
  private readonly disks: Kind = {
    part: 'disks',
    wanted: dataDisks,
    present: (driver, handle) => driver.disks(handle),
    attach: async (record, handle, id) => {
      const disk = await this.specs.disk(record, id);
      await this.drivers.byKind(handle.driver).attachDisk(handle, disk);
    },
    detach: (driver, ...rest) => driver.detachDisk(...rest),
    settle: async (record) => {
      await this.specs.settleDisks(record);
    },
  };

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
        name: 'compute.late-devices',
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
  bringCards(args: DevicesArgs, signal: AbortSignal): Promise<ObservedInstance> {
    return this.bring(this.cards, args, signal);
  }

  /** As `bringCards`, of its data disks; throws what the storage module answers too. */
  bringDisks(args: DevicesArgs, signal: AbortSignal): Promise<ObservedInstance> {
    return this.bring(this.disks, args, signal);
  }

  /** A device that a guest let go after its deadline is brought back: its instance was said to have it still. */
  async settleLate(): Promise<void> {
    const waiting = this.records.all().filter(({ leaving }) => leaving.length > 0);
    for (const { instanceId } of waiting)
      await this.instances
        .exclusive(instanceId, AbortSignal.timeout(60_000), async () => {
          const record = this.records.get(instanceId);
          if (record?.handle) await this.bringBack(record, record.handle);
        })
        .catch((error: unknown) => this.log.warn({ err: error, instanceId }, 'a device could not be brought back yet'));
  }

  private bring(
    kind: Kind,
    { instanceId, generation, spec }: DevicesArgs,
    signal: AbortSignal,
  ): Promise<ObservedInstance> {
    return this.instances.exclusive(instanceId, signal, async (aborted) => {
      this.records.refuseLost(instanceId);
      const record = this.records.upTo(instanceId, generation);
      if (!record) return observedAbsent(instanceId);
      const before = record.spec;
      Object.assign(record, { generation, spec });
      await this.records.save(record);
      try {
        if (record.handle) await this.converge(kind, record, record.handle, aborted);
        else await kind.settle(record);
      } catch (error) {
        record.spec = { ...spec, [kind.part]: before[kind.part] };
        await this.records.save(record);
        if (aborted.aborted)
          throw new VerbFailure('interrupted', 'Something else was asked of the instance meanwhile.', false);
        throw error;
      }
      return observedOf(record);
    });
  }

  private async bringBack(record: InstanceRecord, handle: VmHandle): Promise<void> {
    const driver = this.drivers.byKind(handle.driver);
    if ((await driver.state(handle)) !== 'running') return;
    const present = [...(await driver.nics(handle)), ...(await driver.disks(handle))];
    for (const id of record.leaving.filter((one) => !present.includes(one))) {
      const kind = [this.cards, this.disks].find((each) => each.wanted(record).includes(id));
      if (kind) {
        await kind.attach(record, handle, id);
        this.log.info({ instanceId: record.instanceId, device: id }, 'a guest let a device go late: it has it again');
      }
      record.leaving = record.leaving.filter((one) => one !== id);
      await this.records.save(record);
    }
  }

  private async converge(kind: Kind, record: InstanceRecord, handle: VmHandle, signal: AbortSignal): Promise<void> {
    const driver = this.drivers.byKind(handle.driver);
    const state = await driver.state(handle);
    // It has ended, and whoever watches it will say so: its next start has the devices.
    if (state === 'stopped') return kind.settle(record);
    if (state === 'paused')
      throw new VerbFailure('instance_paused', 'It is paused: its guest sees no device come or go.', true);
    try {
      const wanted = kind.wanted(record);
      const present = await kind.present(driver, handle);
      for (const id of wanted.filter((one) => !present.includes(one))) {
        signal.throwIfAborted();
        await kind.attach(record, handle, id);
      }
      for (const id of present.filter((one) => !wanted.includes(one)))
        await this.detach(kind, record, handle, id, signal);
      // What its VMM has no more is not its own either, also where an earlier call was cut in between.
      await kind.settle(record);
    } catch (error) {
      const now = await driver.state(handle).catch(() => state);
      if (now !== 'stopped') throw error;
      await kind.settle(record);
    }
  }

  private async detach(
    kind: Kind,
    record: InstanceRecord,
    handle: VmHandle,
    id: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { detachSeconds } = this.config.section<ComputeConfig>('compute');
    // Noted first: an agent that is cut here looks after it too.
    record.leaving = [...record.leaving.filter((one) => one !== id), id];
    await this.records.save(record);
    await kind.detach(this.drivers.byKind(handle.driver), handle, id, detachSeconds * 1000, signal);
    record.leaving = record.leaving.filter((one) => one !== id);
    await this.records.save(record);
  }
}
