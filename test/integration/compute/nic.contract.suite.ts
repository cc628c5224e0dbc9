import { exec } from '../../../src/core/host/processes/exec';
import type { VmHandle, VmNic, VmSpec, VmmDriver } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { TestNamespaces } from '../../support/namespaces';
import type { ContractSubject } from './driver.contract.suite';
import type { SerialClient } from './serial-client';
import { testSandbox } from './test-sandbox';

interface Started {
  driver: VmmDriver;
  handle: VmHandle;
  serial: SerialClient;
}

const never = new AbortController().signal;

/** Network cards that come and go while the machine runs: the same for every driver. */
export const nicContract = (
  subject: () => ContractSubject,
  start: (change: Partial<VmSpec>) => Promise<Started>,
  awaitGuest: (serial: SerialClient) => Promise<void>,
): void => {
  describe('network cards', () => {
    const namespaces = new TestNamespaces('t-vmm');
    let netns: string | null;
    const nic = (number: number): VmNic => ({
      id: `00000000-0000-4000-8000-00000000000${number}`,
      tap: `t-vmm-${number}`,
      mac: `52:54:00:00:00:0${number}`,
      mtu: 1450,
    });
    const tap = async (number: number, verb: 'add' | 'del'): Promise<void> => {
      if (netns === null) return;
      const group = verb === 'add' ? ['group', String(testSandbox.tapGroup)] : [];
      await exec('ip', ['-n', netns, 'tuntap', verb, 'dev', nic(number).tap, 'mode', 'tap', ...group]);
      // As networks leave them: not every VMM has the right, or the habit, to put them up.
      if (verb === 'add') await exec('ip', ['-n', netns, 'link', 'set', nic(number).tap, 'up']);
    };
    /** A machine with the first card, whose guest listens. */
    const running = async (): Promise<Started> => {
      const started = await start({ nics: [nic(1)], netns });
      await awaitGuest(started.serial);
      return started;
    };
    /** Whether somebody holds the tap. */
    const inUse = async (number: number): Promise<boolean> => {
      if (netns === null) return false;
      const { stdout } = await exec('ip', ['-n', netns, '-d', 'link', 'show', 'dev', nic(number).tap]);
      return !stdout.includes('NO-CARRIER') && stdout.includes('LOWER_UP');
    };
    beforeEach(async () => {
      netns = subject().usesResources ? namespaces.add('cards') : null;
      for (const number of [1, 2, 3]) await tap(number, 'add');
    });
    afterEach(() => namespaces.close());

    it('tells those that it was started with', async () => {
      const { driver, handle } = await running();
      expect(await driver.nics(handle)).toEqual([nic(1).id]);
    });

    it('attaches, again and again, and the guest runs on', async () => {
      const { driver, handle, serial } = await running();
      await driver.attachNic(handle, nic(2), netns);
      await driver.attachNic(handle, nic(2), netns);
      await subject().make().attachNic(handle, nic(3), netns);
      expect((await driver.nics(handle)).sort()).toEqual([nic(1).id, nic(2).id, nic(3).id]);
      expect(await driver.state(handle)).toBe('running');
      await awaitGuest(serial);
      if (driver.kind === 'qemu') expect(await inUse(3)).toBe(true);
    });

    it('attaches one that is limited, and refuses none that it was started with', async () => {
      const limit = { bytesPerSecond: 2 ** 20, burstSeconds: 2 };
      const { driver, handle, serial } = await start({
        nics: [{ ...nic(1), limit }],
        limits: { disk: null, nic: limit },
        netns,
      });
      await awaitGuest(serial);
      await driver.attachNic(handle, { ...nic(2), limit }, netns);
      expect((await driver.nics(handle)).sort()).toEqual([nic(1).id, nic(2).id]);
      if (netns === null || driver.kind !== 'qemu') return;
      const { stdout } = await exec('ip', ['netns', 'exec', netns, 'nft', 'list', 'tables']);
      expect(stdout.trim().split('\n').sort()).toEqual(
        [1, 2].map((number) => `table netdev vc-limit-${nic(number).tap}`),
      );
    });

    it('leaves nothing of one whose tap is missing, and takes it once it is there', async () => {
      if (!subject().usesResources) return;
      const { driver, handle } = await running();
      await tap(2, 'del');
      await expect(driver.attachNic(handle, nic(2), netns)).rejects.toMatchObject({ code: 'tap_missing' });
      expect(await driver.nics(handle)).toEqual([nic(1).id]);
      await tap(2, 'add');
      await driver.attachNic(handle, nic(2), netns);
      expect((await driver.nics(handle)).sort()).toEqual([nic(1).id, nic(2).id]);
    });

    it('refuses a card that it cannot have before anything is touched', async () => {
      const { driver, handle } = await running();
      await expect(driver.attachNic(handle, { ...nic(2), tap: 'a/b' }, netns)).rejects.toMatchObject({
        code: 'invalid_spec',
        permanent: true,
      });
      expect(await driver.nics(handle)).toEqual([nic(1).id]);
    });

    it('detaches one that it was started with and one that came later, and has their taps no more', async () => {
      if (subject().holdsDevices === true) return;
      const { driver, handle, serial } = await running();
      await driver.attachNic(handle, nic(2), netns);
      await driver.detachNic(handle, nic(1).id, 10_000, never);
      await driver.detachNic(handle, nic(1).id, 10_000, never);
      expect(await driver.nics(handle)).toEqual([nic(2).id]);
      await driver.detachNic(handle, nic(2).id, 10_000, never);
      expect(await driver.nics(handle)).toEqual([]);
      for (const number of [1, 2]) expect(await inUse(number)).toBe(false);
      await driver.attachNic(handle, nic(1), netns);
      expect(await driver.nics(handle)).toEqual([nic(1).id]);
      await awaitGuest(serial);
    });

    it('has a card still that its guest does not let go, and says so; one that goes late is gone', async () => {
      if (subject().holdsDevices !== true) return;
      const { driver, handle, serial } = await running();
      await driver.attachNic(handle, nic(2), netns);
      for (const id of [nic(1).id, nic(2).id, nic(2).id])
        await expect(driver.detachNic(handle, id, 300, never)).rejects.toMatchObject({
          code: 'device_held',
          permanent: true,
        });
      expect((await driver.nics(handle)).sort()).toEqual([nic(1).id, nic(2).id]);
      await awaitGuest(serial);
      await driver.reset(handle);
      // Whoever waits learns of it; so does who asks afterwards.
      await driver.detachNic(handle, nic(2).id, 20_000, never);
      await driver.detachNic(handle, nic(1).id, 20_000, never);
      expect(await driver.nics(handle)).toEqual([]);
      await driver.attachNic(handle, nic(1), netns);
      expect(await driver.nics(handle)).toEqual([nic(1).id]);
    });

    it('stops waiting for a guest when it is told to', async () => {
      if (subject().holdsDevices !== true) return;
      const { driver, handle } = await running();
      const stop = new AbortController();
      const detaching = driver.detachNic(handle, nic(1).id, 30_000, stop.signal);
      stop.abort();
      await expect(detaching).rejects.toThrow();
      expect(await driver.state(handle)).toBe('running');
    });

    it('has no more cards than it has places for', async () => {
      const { driver, handle } = await running();
      for (let number = 2; number <= 8; number += 1) {
        if (number > 3) await tap(number, 'add');
        await driver.attachNic(handle, nic(number), netns);
      }
      expect((await driver.nics(handle)).length).toBe(8);
      if (driver.kind !== 'qemu') return;
      await tap(9, 'add');
      await expect(driver.attachNic(handle, nic(9), netns)).rejects.toMatchObject({ code: 'no_free_slot' });
      expect((await driver.nics(handle)).length).toBe(8);
    });

    it('knows nothing of cards once it has ended', async () => {
      const { driver, handle } = await running();
      await driver.kill(handle);
      await expect(driver.nics(handle)).rejects.toMatchObject({ code: 'not_running' });
      await expect(driver.attachNic(handle, nic(2), netns)).rejects.toMatchObject({ code: 'not_running' });
      await expect(driver.detachNic(handle, nic(1).id, 1000, never)).rejects.toMatchObject({ code: 'not_running' });
    });
  });
};
