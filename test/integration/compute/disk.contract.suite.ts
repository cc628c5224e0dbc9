import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VmDisk, VmHandle, VmSpec, VmmDriver } from '../../../src/modules/compute/node/drivers/vmm-driver';
import type { ContractSubject } from './driver.contract.suite';
import { lockFile } from './lock-file';
import type { SerialClient } from './serial-client';
import { testUser } from './test-sandbox';

interface Started {
  driver: VmmDriver;
  handle: VmHandle;
  serial: SerialClient;
}

const never = new AbortController().signal;
const bytes = 8 * 1024 * 1024;

/** Data disks that come and go while the machine runs: the same for every driver. */
export const diskContract = (
  subject: () => ContractSubject,
  start: (change: Partial<VmSpec>) => Promise<Started>,
  awaitGuest: (serial: SerialClient) => Promise<void>,
  /** Of the test: its first disk is there. */
  specOf: () => Pick<VmSpec, 'disks'> & { directory: string },
): void => {
  describe('data disks', () => {
    let folder: string;
    const disk = (): VmDisk => {
      const id = randomUUID();
      const path = join(folder, `${id}.raw`);
      writeFileSync(path, '');
      truncateSync(path, bytes);
      return { id, path, format: 'raw', readonly: false, detachable: true };
    };
    /** A machine with its root disk and these, whose guest listens. */
    const running = async (disks: VmDisk[] = []): Promise<Started> => {
      const started = await start({ disks: [...specOf().disks, ...disks], diskFolders: [folder] });
      await awaitGuest(started.serial);
      return started;
    };
    beforeEach(() => {
      folder = join(specOf().directory, 'disks');
      mkdirSync(folder, { mode: 0o711 });
    });

    it('tells those that it was started with, and not its root disk', async () => {
      const first = disk();
      const { driver, handle } = await running([first]);
      expect(await driver.disks(handle)).toEqual([first.id]);
    });

    it('attaches, again and again, and the guest runs on; the file is the VMM’s own', async () => {
      const { driver, handle, serial } = await running();
      expect(await driver.disks(handle)).toEqual([]);
      const [one, two] = [disk(), { ...disk(), readonly: true }];
      await driver.attachDisk(handle, one);
      await driver.attachDisk(handle, one);
      await subject().make().attachDisk(handle, two);
      expect((await driver.disks(handle)).sort()).toEqual([one.id, two.id].sort());
      expect(await driver.state(handle)).toBe('running');
      await awaitGuest(serial);
      if (!subject().hasProcesses) return;
      const owners = [one, two].map(({ path }) => statSync(path)).map(({ uid, mode }) => [uid, mode & 0o777]);
      expect(owners).toEqual([
        [testUser, 0o600],
        [0, 0o440],
      ]);
    });

    it('attaches one to a machine whose disks are limited, also by an agent that did not start it', async () => {
      const limits = { disk: { iops: 1000, bytesPerSecond: 2 ** 26, burstSeconds: 2 }, nic: null };
      const first = disk();
      const { driver, handle, serial } = await start({
        disks: [...specOf().disks, first],
        diskFolders: [folder],
        limits,
      });
      await awaitGuest(serial);
      const second = disk();
      await subject().make().attachDisk(handle, second);
      expect((await driver.disks(handle)).sort()).toEqual([first.id, second.id].sort());
      await awaitGuest(serial);
      if (subject().holdsDevices === true) return;
      for (const { id } of [first, second]) await driver.detachDisk(handle, id, 10_000, never);
      expect(await driver.disks(handle)).toEqual([]);
    });

    it('leaves nothing of one that is missing, or that another one writes to, and takes it once it can', async () => {
      if (!subject().usesResources) return;
      const { driver, handle } = await running();
      const one = disk();
      rmSync(one.path);
      await expect(driver.attachDisk(handle, one)).rejects.toMatchObject({ code: 'disk_missing', permanent: true });
      writeFileSync(one.path, Buffer.alloc(bytes));
      const unlock = await lockFile(one.path);
      await expect(driver.attachDisk(handle, one)).rejects.toMatchObject({ name: 'VerbFailure' });
      expect(await driver.disks(handle)).toEqual([]);
      await unlock();
      await driver.attachDisk(handle, one);
      expect(await driver.disks(handle)).toEqual([one.id]);
    });

    it('refuses one that cannot be before anything is touched', async () => {
      const { driver, handle } = await running();
      for (const bad of [{ id: 'a/b' }, { path: 'disk.raw' }])
        await expect(driver.attachDisk(handle, { ...disk(), ...bad })).rejects.toMatchObject({
          code: 'invalid_spec',
          permanent: true,
        });
      expect(await driver.disks(handle)).toEqual([]);
    });

    it('detaches one that it was started with and one that came later, and has their files open no more', async () => {
      if (subject().holdsDevices === true) return;
      const [one, two] = [disk(), disk()];
      const { driver, handle, serial } = await running([one]);
      await driver.attachDisk(handle, two);
      await driver.detachDisk(handle, one.id, 10_000, never);
      await driver.detachDisk(handle, one.id, 10_000, never);
      expect(await driver.disks(handle)).toEqual([two.id]);
      await driver.detachDisk(handle, two.id, 10_000, never);
      expect(await driver.disks(handle)).toEqual([]);
      if (subject().usesResources) for (const { path } of [one, two]) await (await lockFile(path))();
      await driver.attachDisk(handle, one);
      expect(await driver.disks(handle)).toEqual([one.id]);
      await awaitGuest(serial);
    });

    it('has one still that its guest does not let go, and says so; one that goes late is gone', async () => {
      if (subject().holdsDevices !== true) return;
      const [one, two] = [disk(), disk()];
      const { driver, handle, serial } = await running([one]);
      await driver.attachDisk(handle, two);
      for (const { id } of [one, two, two])
        await expect(driver.detachDisk(handle, id, 300, never)).rejects.toMatchObject({
          code: 'device_held',
          permanent: true,
        });
      expect((await driver.disks(handle)).sort()).toEqual([one.id, two.id].sort());
      await awaitGuest(serial);
      await driver.reset(handle);
      for (const { id } of [two, one]) await driver.detachDisk(handle, id, 20_000, never);
      expect(await driver.disks(handle)).toEqual([]);
      if (subject().usesResources) await (await lockFile(one.path))();
      await driver.attachDisk(handle, one);
      expect(await driver.disks(handle)).toEqual([one.id]);
    });

    it('has places for eight of them, beside as many cards', async () => {
      const { driver, handle } = await running([disk()]);
      for (let number = 2; number <= 8; number += 1) await driver.attachDisk(handle, disk());
      expect((await driver.disks(handle)).length).toBe(8);
      if (driver.kind === 'qemu')
        await expect(driver.attachDisk(handle, disk())).rejects.toMatchObject({ code: 'no_free_slot' });
    });

    it('knows nothing of disks once it has ended', async () => {
      const one = disk();
      const { driver, handle } = await running([one]);
      await driver.kill(handle);
      const gone = { code: 'not_running' };
      await expect(driver.disks(handle)).rejects.toMatchObject(gone);
      await expect(driver.attachDisk(handle, disk())).rejects.toMatchObject(gone);
      await expect(driver.detachDisk(handle, one.id, 1000, never)).rejects.toMatchObject(gone);
    });
  });
};
