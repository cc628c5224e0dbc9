import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { pino } from 'pino';
import { QemuDriver } from '../../../src/modules/compute/node/drivers/qemu/qemu.driver';
import { driverContract } from './driver.contract.suite';

jest.setTimeout(60_000);

const binary = 'qemu-system-x86_64';
if (spawnSync(binary, ['--version']).status !== 0) {
  describe('qemu: driver contract', () => it.skip('needs qemu-system-x86_64', () => undefined));
} else {
  let cacheDir = '';
  beforeAll(async () => (cacheDir = await mkdtemp('/tmp/t-vmm-probe-')));
  afterAll(() => rm(cacheDir, { recursive: true, force: true }));

  driverContract('qemu', () => ({
    make: () => new QemuDriver({ binary, accel: 'tcg', cacheDir }, pino({ enabled: false })),
    usesResources: true,
    hasProcesses: true,
  }));

  describe('qemu: probe', () => {
    it('says which accelerator and why, and remembers the trial', async () => {
      const driver = new QemuDriver({ binary, accel: 'auto', cacheDir }, pino({ enabled: false }));
      const first = await driver.probe();
      expect(first).toMatchObject({ kind: 'qemu', usable: true });
      expect(first.version).toMatch(/^\d+\.\d+/);
      expect(['kvm', 'tcg']).toContain(first.accel);
      expect(first.reason).not.toBe('');
      expect(await driver.probe()).toEqual(first);
    });

    it('is not usable when the program is missing, or KVM is demanded and does not work', async () => {
      const missing = await new QemuDriver({ binary: 'qemu-system-none', accel: 'auto', cacheDir }, pino({ enabled: false })).probe();
      expect(missing).toMatchObject({ usable: false, reason: 'qemu-system-none is not installed' });
    });
  });
}
