import { injectable } from 'inversify';
import type { Socket } from 'node:net';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import type { VmHandle, VmmDriver } from '../drivers/vmm-driver';
import { VmmDrivers } from '../drivers/vmm-drivers';
import { InstanceRecords } from '../instances/instance-records';

/** The screens of this host's instances. Reads only: no call that works on an instance is waited for. */
@injectable()
export class InstanceScreens {
  constructor(
    private readonly records: InstanceRecords,
    private readonly drivers: VmmDrivers,
  ) {}

  /** A connection by RFB. Throws `VerbFailure` `instance_absent`, `instance_not_running`, `no_screen`. */
  async connect(instanceId: string): Promise<Socket> {
    const { driver, handle } = this.machine(instanceId);
    return driver.screen(handle);
  }

  /** A PNG of what it shows now. Throws as `connect`, and `screenshot_too_large`. */
  async shoot(instanceId: string): Promise<Buffer> {
    const { driver, handle } = this.machine(instanceId);
    return driver.screenshot(handle);
  }

  private machine(instanceId: string): { driver: VmmDriver; handle: VmHandle } {
    this.records.refuseLost(instanceId);
    const record = this.records.get(instanceId);
    if (!record) throw new VerbFailure('instance_absent', 'This host does not have the instance.', true);
    if (!record.handle) throw new VerbFailure('instance_not_running', 'The instance does not run on this host.', true);
    return { driver: this.drivers.byKind(record.handle.driver), handle: record.handle };
  }
}
