import { injectable } from 'inversify';
import { memoryOf } from '../drivers/common/suspended-memory';
import type { VmHandle } from '../drivers/vmm-driver';
import { suspendedExit } from '../drivers/vmm-exit';
import { InstanceMachines } from './instance-machines';
import type { InstanceRecord } from './instance-record';
import { InstanceRecords } from './instance-records';

/** Instances whose memory lies on this host's disk. Whoever calls holds the instance. */
@injectable()
export class InstanceSuspension {
  constructor(
    private readonly records: InstanceRecords,
    private readonly machines: InstanceMachines,
  ) {}

  /** Throws what its driver throws; then it runs on, unless its VMM is gone. */
  async suspend(record: InstanceRecord, handle: VmHandle): Promise<void> {
    record.suspending = true;
    await this.records.save(record);
    // Its end is ours.
    this.machines.unwatch(record.instanceId);
    try {
      await this.machines.driverOf(handle).suspend(handle, record.spec.memoryBytes);
    } finally {
      await this.settle(record, handle);
    }
  }

  /** After a suspend, whether it was done, failed, or was cut: what is whole counts, what is not is taken back. */
  async settle(record: InstanceRecord, handle: VmHandle): Promise<void> {
    const driver = this.machines.driverOf(handle);
    const memory = memoryOf(handle);
    record.suspending = false;
    if (await memory.isComplete()) {
      await driver.kill(handle);
      record.suspended = { driver: handle.driver };
      return this.machines.ended(record, handle, suspendedExit);
    }
    try {
      const state = await driver.state(handle);
      if (state === 'paused') await driver.resume(handle);
      await memory.empty();
      if (state === 'stopped') return await this.machines.collect(record, handle);
      record.paused = false;
    } catch (error) {
      // It stands still, maybe, and whoever looks sees that; its end is noticed all the same.
      record.paused = (await driver.state(handle).catch(() => 'running')) === 'paused';
      this.machines.watch(record, handle);
      await this.records.save(record);
      throw error;
    }
    this.machines.watch(record, handle);
    await this.records.save(record);
    await this.machines.rightClock(record);
  }
}
