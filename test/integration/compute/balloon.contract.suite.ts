import type { VmHandle, VmSpec, VmmDriver } from '../../../src/modules/compute/node/drivers/vmm-driver';
import type { ContractSubject } from './driver.contract.suite';
import type { SerialClient } from './serial-client';

interface Started {
  driver: VmmDriver;
  handle: VmHandle;
  serial: SerialClient;
}

const MiB = 1024 * 1024;
const has = 96 * MiB;

/** Machines with a balloon: the same for every driver. */
export const balloonContract = (
  subject: () => ContractSubject,
  specOf: () => VmSpec,
  start: (change?: Partial<VmSpec>) => Promise<Started>,
  awaitGuest: (serial: SerialClient) => Promise<void>,
): void => {
  describe('balloon', () => {
    const withBalloon = async (change: Partial<VmSpec> = {}): Promise<Started> => {
      const started = await start({ memoryBytes: has, machine: { balloon: true }, ...change });
      await awaitGuest(started.serial);
      return started;
    };
    /** The simulated guest has a driver, those without an operating system have none. */
    const kept = ({ kind }: VmmDriver, bytes: number): number =>
      subject().holdsDevices === true && kind !== 'simulated' ? has : bytes;

    it('says so, and that its guest has all of its memory at first', async () => {
      const { driver, handle } = await withBalloon();
      expect((await driver.probe()).capabilities).toContain('balloon');
      expect(await driver.memory(handle)).toEqual({ bytes: has, heldBytes: has, guest: null });
    });

    it('asks its guest for memory, whose driver gives it, and gives all of it again, whoever asks', async () => {
      const { driver, handle, serial } = await withBalloon();
      await driver.setBalloon(handle, 64 * MiB);
      expect(await subject().make().memory(handle)).toEqual({
        bytes: has,
        heldBytes: kept(driver, 64 * MiB),
        guest: null,
      });
      await driver.setBalloon(handle, 64 * MiB);
      await driver.reset(handle);
      expect(await driver.memory(handle)).toMatchObject({ heldBytes: kept(driver, 64 * MiB) });
      await subject()
        .make()
        .setBalloon(handle, 2 * has);
      expect(await driver.memory(handle)).toEqual({ bytes: has, heldBytes: has, guest: null });
      if (driver.kind !== 'cloud-hypervisor') await awaitGuest(serial);
    });

    it('refuses to leave nothing, and one without a balloon', async () => {
      const { driver, handle } = await withBalloon();
      await expect(driver.setBalloon(handle, 0)).rejects.toMatchObject({ code: 'balloon_too_large', permanent: true });
      expect(await driver.memory(handle)).toMatchObject({ heldBytes: has });
      await driver.kill(handle);
      const plain = await start();
      const refusal = { name: 'VerbFailure', code: 'no_balloon', permanent: true };
      await expect(driver.memory(plain.handle)).rejects.toMatchObject(refusal);
      await expect(driver.setBalloon(plain.handle, 64 * MiB)).rejects.toMatchObject(refusal);
    });

    it('goes on from a suspension with what it held', async () => {
      const spec = { ...specOf(), memoryBytes: has, machine: { balloon: true as const } };
      const { driver, handle } = await withBalloon(spec);
      await driver.setBalloon(handle, 64 * MiB);
      await driver.suspend(handle, has);
      const again = await start({ ...spec, suspended: true });
      expect(await again.driver.memory(again.handle)).toMatchObject({ bytes: has, heldBytes: kept(driver, 64 * MiB) });
      await again.driver.setBalloon(again.handle, has);
      expect(await again.driver.memory(again.handle)).toMatchObject({ heldBytes: has });
      await awaitGuest(again.serial);
    });

    it('has none once it has ended', async () => {
      const { driver, handle } = await withBalloon();
      await driver.kill(handle);
      const gone = { code: 'not_running' };
      await expect(driver.memory(handle)).rejects.toMatchObject(gone);
      await expect(driver.setBalloon(handle, has)).rejects.toMatchObject(gone);
    });
  });
};
