import type { VmHandle, VmSize, VmSpec, VmmDriver } from '../../../src/modules/compute/node/drivers/vmm-driver';
import type { ContractSubject } from './driver.contract.suite';
import type { SerialClient } from './serial-client';

interface Started {
  driver: VmmDriver;
  handle: VmHandle;
  serial: SerialClient;
}

const never = new AbortController().signal;
const MiB = 1024 * 1024;
const base = 64 * MiB;
const step = 128 * MiB;
/** Milliseconds that a guest is given which does not do what it is asked for. */
const soon = 300;

/** Machines that get more or less while they run: the same for every driver. */
export const resizeContract = (
  subject: () => ContractSubject,
  specOf: () => VmSpec,
  start: (change?: Partial<VmSpec>) => Promise<Started>,
  awaitGuest: (serial: SerialClient) => Promise<void>,
): void => {
  describe('size', () => {
    const max = { vcpus: 4, memoryBytes: base + 2 * step };
    const growing = async (change: Partial<VmSpec> = {}): Promise<Started> => {
      const started = await start({ vcpus: 2, memoryBytes: base, max, ...change });
      await awaitGuest(started.serial);
      return started;
    };
    const refuses = async ({ driver, handle }: Started, size: VmSize): Promise<void> => {
      await expect(driver.checkResize(handle, size)).rejects.toMatchObject({
        code: 'resize_needs_stop',
        permanent: true,
      });
    };
    /** Its guest takes memory only when its driver asks for it. */
    const asksGuest = ({ driver }: Started): boolean => driver.kind === 'qemu';

    it('tells what it was started with, and refuses another one where there is no room for it', async () => {
      const started = await growing();
      const { driver, handle } = started;
      expect(await driver.size(handle)).toEqual({ vcpus: 2, memoryBytes: base });
      for (const size of [
        { vcpus: 5, memoryBytes: base },
        { vcpus: 2, memoryBytes: base + MiB },
        { vcpus: 2, memoryBytes: base - MiB },
        { vcpus: 2, memoryBytes: base - step },
      ])
        await refuses(started, size);
      await driver.checkResize(handle, { vcpus: 2, memoryBytes: base });
      await driver.checkResize(handle, max);
      expect(await driver.size(handle)).toEqual({ vcpus: 2, memoryBytes: base });
    });

    it('refuses any other one where it was started without a maximum', async () => {
      const fixed = await start({ vcpus: 2 });
      const { memoryBytes } = await fixed.driver.size(fixed.handle);
      await refuses(fixed, { vcpus: 3, memoryBytes });
      await refuses(fixed, { vcpus: 2, memoryBytes: memoryBytes + step });
      await fixed.driver.checkResize(fixed.handle, { vcpus: 2, memoryBytes });
    });

    it('gets more vCPUs, again and again, and its guest runs on, also through a reset', async () => {
      const { driver, handle, serial } = await growing();
      await driver.setVcpus(handle, 3, soon, never);
      await driver.setVcpus(handle, 3, soon, never);
      await subject().make().setVcpus(handle, 4, soon, never);
      expect(await subject().make().size(handle)).toEqual({ vcpus: 4, memoryBytes: base });
      await awaitGuest(serial);
      await driver.reset(handle);
      expect((await driver.size(handle)).vcpus).toBe(4);
      expect(await driver.state(handle)).toBe('running');
    });

    it('gets more memory; one whose guest does not take it says so, and has what it had', async () => {
      const started = await growing();
      const { driver, handle, serial } = started;
      if (asksGuest(started)) {
        await expect(driver.setMemory(handle, base + step, soon, never)).rejects.toMatchObject({ code: 'resize_held' });
        await driver.setMemory(handle, base, soon, never);
        expect((await driver.size(handle)).memoryBytes).toBe(base);
      } else {
        await driver.setMemory(handle, base + step, soon, never);
        await driver.setMemory(handle, base + step, soon, never);
        expect((await subject().make().size(handle)).memoryBytes).toBe(base + step);
        await driver.checkResize(handle, { vcpus: 2, memoryBytes: base + 2 * step });
      }
      await awaitGuest(serial);
    });

    it('gives vCPUs back where its VMM can; one whose guest does not says so, and is brought back', async () => {
      const started = await growing();
      const { driver, handle, serial } = started;
      if (asksGuest(started)) return refuses(started, { vcpus: 1, memoryBytes: base });
      await driver.checkResize(handle, { vcpus: 1, memoryBytes: base });
      if (subject().holdsDevices === true) {
        await expect(driver.setVcpus(handle, 1, soon, never)).rejects.toMatchObject({ code: 'resize_held' });
        await driver.setVcpus(handle, 2, soon, never);
        expect((await driver.size(handle)).vcpus).toBe(2);
      } else {
        await driver.setVcpus(handle, 1, 5_000, never);
        expect((await driver.size(handle)).vcpus).toBe(1);
        await driver.setVcpus(handle, 4, soon, never);
        expect((await driver.size(handle)).vcpus).toBe(4);
      }
      return awaitGuest(serial);
    });

    it('goes on from a suspension with what it had got', async () => {
      const spec = specOf();
      const { driver, handle } = await growing({ ...spec, vcpus: 2, memoryBytes: base });
      await driver.setVcpus(handle, 3, soon, never);
      await driver.suspend(handle, base);
      const again = await start({ ...spec, vcpus: 3, memoryBytes: base, max, suspended: true });
      await awaitGuest(again.serial);
      expect(await again.driver.size(again.handle)).toEqual({ vcpus: 3, memoryBytes: base });
      await again.driver.setVcpus(again.handle, 4, soon, never);
      expect((await again.driver.size(again.handle)).vcpus).toBe(4);
    });

    it('has none once it has ended', async () => {
      const { driver, handle } = await growing();
      await driver.kill(handle);
      const gone = { code: 'not_running' };
      await expect(driver.size(handle)).rejects.toMatchObject(gone);
      await expect(driver.checkResize(handle, { vcpus: 2, memoryBytes: base })).rejects.toMatchObject(gone);
      await expect(driver.setVcpus(handle, 3, soon, never)).rejects.toMatchObject(gone);
      await expect(driver.setMemory(handle, base + step, soon, never)).rejects.toMatchObject(gone);
    });
  });
};
