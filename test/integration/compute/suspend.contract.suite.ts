import { rm } from 'node:fs/promises';
import { isRunning } from '../../../src/core/host/processes/process-identity';
import { memoryOf } from '../../../src/modules/compute/node/drivers/common/suspended-memory';
import type { VmHandle, VmSpec, VmmDriver } from '../../../src/modules/compute/node/drivers/vmm-driver';
import type { ContractSubject } from './driver.contract.suite';
import type { SerialClient } from './serial-client';

interface Started {
  driver: VmmDriver;
  handle: VmHandle;
  serial: SerialClient;
}

/** Machines that stand still, and those whose memory goes to the disk of their host: the same for every driver. */
export const suspendContract = (
  subject: () => ContractSubject,
  specOf: () => VmSpec,
  start: (change?: Partial<VmSpec>) => Promise<Started>,
  awaitGuest: (serial: SerialClient) => Promise<void>,
): void => {
  it('suspends: the VM is gone, and goes on where it stood, in another driver', async () => {
    const spec = specOf();
    const { driver, handle, serial } = await start(spec);
    await awaitGuest(serial);
    // What its guest knows: a boot would have forgotten it.
    serial.type('i');
    await serial.expect('i');
    await driver.suspend(handle, spec.memoryBytes);
    expect(await driver.state(handle)).toBe('stopped');
    if (subject().hasProcesses) expect(isRunning(handle.process)).toBe(false);
    expect(await memoryOf(handle).isComplete()).toBe(true);
    const again = await start({ ...spec, suspended: true });
    expect(await again.driver.state(again.handle)).toBe('running');
    await awaitGuest(again.serial);
    // The simulated guest is another one: its VMM keeps a configuration, and no memory.
    if (subject().keepsMemory !== true) return;
    await again.driver.powerButton(again.handle);
    await again.serial.expect('button');
    await awaitGuest(again.serial);
  });

  it('leaves one running that it cannot suspend', async () => {
    const { driver, handle, serial } = await start();
    await awaitGuest(serial);
    await expect(driver.suspend(handle, 2 ** 50)).rejects.toMatchObject({ code: 'no_room_to_suspend' });
    expect(await memoryOf(handle).isComplete()).toBe(false);
    if (subject().hasProcesses) {
      // As a build before that left it.
      await rm(memoryOf(handle).directory, { recursive: true });
      await expect(driver.suspend(handle, 1)).rejects.toMatchObject({ code: 'suspend_unprepared' });
    }
    expect(await driver.state(handle)).toBe('running');
    await awaitGuest(serial);
  });

  it('kills one that is paused', async () => {
    const { driver, handle, serial } = await start();
    await awaitGuest(serial);
    const exit = driver.waitExit(handle, new AbortController().signal);
    await driver.pause(handle);
    await driver.kill(handle);
    expect(await exit).toMatchObject({ cause: 'forced' });
    expect(await driver.state(handle)).toBe('stopped');
  });
};
