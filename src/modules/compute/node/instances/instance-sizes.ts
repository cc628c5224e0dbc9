import { injectable } from 'inversify';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { Config } from '../../../../core/config/config';
import { changeLimits } from '../../../../core/host/processes/cgroup';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { PeriodicWorks, type PeriodicWork } from '../../../../core/periodic/periodic-work';
import { Logging } from '../../../../core/telemetry/logging';
import type { ComputeConfig } from '../../contract/compute.config';
import type { instanceResize } from '../../contract/instance.verbs';
import { limitsOfMachine } from '../drivers/common/machine-limits';
import type { VmHandle, VmSize } from '../drivers/vmm-driver';
import { InstanceMachines } from './instance-machines';
import type { InstanceRecord } from './instance-record';
import { InstanceRecords } from './instance-records';

type Wanted = Pick<z.output<typeof instanceResize.args>, 'generation' | 'spec' | 'back'>;

const sizeOf = ({ vcpus, memoryBytes }: VmSize): VmSize => ({ vcpus, memoryBytes });
const largerOf = (one: VmSize, other: VmSize): VmSize => ({
  vcpus: Math.max(one.vcpus, other.vcpus),
  memoryBytes: Math.max(one.memoryBytes, other.memoryBytes),
});
const isNeedsStop = (error: unknown): boolean => error instanceof VerbFailure && error.code === 'resize_needs_stop';

/**
 * How much machines have while they run. What an instance shall have is written down before anything is done, and what its
 * VMM has is asked. Limits on the host make room before a machine grows, and follow what it has afterwards. Whoever calls
 * holds the instance.
 */
@injectable()
export class InstanceSizes extends PeriodicWorks {
  private readonly log: Logger;

  constructor(
    private readonly config: Config,
    private readonly records: InstanceRecords,
    private readonly machines: InstanceMachines,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('instances');
  }

  override periodicWork(): PeriodicWork[] {
    return [
      {
        name: 'compute.late-sizes',
        everyMs: 10_000,
        scope: 'process',
        deadlineMs: 120_000,
        run: () => this.settleLate(),
      },
    ];
  }

  /** Throws what the driver throws, and `instance_paused`: then it has what it had. */
  async bring(record: InstanceRecord, { generation, spec, back }: Wanted, signal: AbortSignal): Promise<void> {
    const { handle, spec: before } = record;
    // Without a machine its next start has the size; of one that has ended, whoever watches it will say so.
    if (!handle || (await this.machines.driverOf(handle).state(handle)) === 'stopped') {
      Object.assign(record, { generation, spec, resizing: false });
      return this.records.save(record);
    }
    if (!back) await this.refuse(record, handle, spec);
    Object.assign(record, { generation, spec, resizing: true });
    await this.records.save(record);
    try {
      await this.limit(record, largerOf(spec, before));
      await this.change(handle, spec, back, signal);
    } catch (error) {
      // Marked as it is: whoever asks next, or the next agent, sees what became of it.
      if (signal.aborted)
        throw new VerbFailure('interrupted', 'Something else was asked of the instance meanwhile.', false);
      // It has ended, and whoever watches it will say so: its next start has the size.
      if (
        (await this.machines
          .driverOf(handle)
          .state(handle)
          .catch(() => 'running')) === 'stopped'
      ) {
        record.resizing = false;
        return this.records.save(record);
      }
      await this.takeBack(record, handle, { ...spec, ...sizeOf(before) }, error);
      throw error;
    }
    record.resizing = false;
    await this.follow(record, handle);
    return this.records.save(record);
  }

  /** After an agent that died in the midst of it: what its VMM has counts, until management asks again. */
  async settle(record: InstanceRecord, handle: VmHandle): Promise<void> {
    const has = await this.machines.driverOf(handle).size(handle);
    this.log.info({ instanceId: record.instanceId, ...has }, 'a resize was cut: the machine has what its VMM says');
    record.spec = { ...record.spec, ...has };
    record.resizing = false;
    // Limits stay as they are, for they fit both sizes.
    await this.records.save(record);
  }

  /** What guests gave back after their deadline is given to them again: their instances were said to have it still. */
  async settleLate(): Promise<void> {
    const waiting = this.records.all().filter(({ mayGiveLate }) => mayGiveLate);
    for (const { instanceId } of waiting)
      await this.machines
        .exclusively(instanceId, async () => {
          const record = this.records.get(instanceId);
          const handle = record?.handle;
          if (!record || !handle || record.paused || !record.mayGiveLate) return;
          await this.change(handle, record.spec, true, AbortSignal.timeout(10_000));
          await this.follow(record, handle);
        })
        .catch((error: unknown) => this.log.warn({ err: error, instanceId }, 'a machine has not its size again yet'));
  }

  private async refuse(record: InstanceRecord, handle: VmHandle, size: VmSize): Promise<void> {
    const driver = this.machines.driverOf(handle);
    if ((await driver.state(handle)) === 'paused')
      throw new VerbFailure('instance_paused', 'It is paused: its guest sees nothing come or go.', true);
    if (record.balloonBytes !== null || record.ballooning)
      throw new VerbFailure('balloon_inflated', 'Its balloon holds memory of its guest: give it back first.', true);
    await driver.checkResize(handle, sizeOf(size));
  }

  /**
   * What its guest gives back goes first and more vCPUs come last: of all that may fail what cannot be taken back is not
   * done yet. Each part ends at once where it is done already.
   * @param leniently what cannot be while it runs is passed over
   */
  private async change(handle: VmHandle, size: VmSize, leniently: boolean, signal: AbortSignal): Promise<void> {
    const driver = this.machines.driverOf(handle);
    const deadlineMs = this.config.section<ComputeConfig>('compute').resizeSeconds * 1000;
    const now = await driver.size(handle);
    const vcpus = (): Promise<void> => driver.setVcpus(handle, size.vcpus, deadlineMs, signal);
    const memory = (): Promise<void> => driver.setMemory(handle, size.memoryBytes, deadlineMs, signal);
    for (const part of size.vcpus < now.vcpus ? [vcpus, memory] : [memory, vcpus])
      await part().catch((error: unknown) => {
        if (!leniently || !isNeedsStop(error)) throw error;
      });
  }

  /** It has what it had, as far as it can while it runs; its record says so in any case, and its VMM is asked again. */
  private async takeBack(
    record: InstanceRecord,
    handle: VmHandle,
    spec: InstanceRecord['spec'],
    why: unknown,
  ): Promise<void> {
    const { instanceId } = record;
    this.log.warn({ err: why, instanceId }, 'the machine did not get its new size: it is brought back');
    record.spec = spec;
    record.mayGiveLate = true;
    try {
      await this.change(handle, spec, true, AbortSignal.timeout(120_000));
      await this.follow(record, handle);
    } catch (error) {
      // Limits stay as wide as they are.
      this.log.error({ err: error, instanceId }, 'the machine could not be brought back yet');
    }
    record.resizing = false;
    await this.records.save(record);
  }

  /** Limits for what it shall have, and for what it has where that is more. */
  private async follow(record: InstanceRecord, handle: VmHandle): Promise<void> {
    await this.limit(record, largerOf(record.spec, await this.machines.driverOf(handle).size(handle)));
  }

  private limit({ instanceId, spec }: InstanceRecord, size: VmSize): Promise<void> {
    return changeLimits(instanceId, limitsOfMachine(size, { ...(spec.hardware && { hardware: spec.hardware }) }));
  }
}
