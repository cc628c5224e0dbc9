import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { QemuDriver } from '../../../src/modules/compute/node/drivers/qemu/qemu.driver';
import type { VmHandle, VmKernel, VmSpec } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { waitFor } from '../../support/wait-for';
import { SerialClient } from './serial-client';
import { shellGuestKernel, timed } from './shell-guest';
import { testSandbox, testUser } from './test-sandbox';

const minutes = 60_000;
jest.setTimeout(4 * minutes);

const binary = 'qemu-system-x86_64';
const accel = process.env['VC_STACK_TEST_ACCEL'] === 'kvm' ? 'kvm' : 'tcg';
const MiB = 1024 * 1024;
const has = 256 * MiB;
const driverOfBalloon = 'drivers/virtio/virtio_balloon.ko';

if (spawnSync(binary, ['--version']).status !== 0) {
  describe('qemu: balloon', () => it.skip('needs qemu-system-x86_64', () => undefined));
} else {
  describe('qemu: the memory of a real guest with a balloon', () => {
    let made = '';
    let directory = '';
    let handle: VmHandle | null = null;
    let serial: SerialClient | null = null;
    const make = (): QemuDriver =>
      new QemuDriver({ binary, accel, cacheDir: join(made, 'cache'), sandbox: testSandbox }, pino({ enabled: false }));
    beforeAll(async () => {
      made = await mkdtemp('/tmp/t-vmm-balloons-');
      await chmod(made, 0o755);
    });
    afterAll(() => rm(made, { recursive: true, force: true }));
    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-balloon-');
      await chmod(directory, 0o711);
      await writeFile(join(directory, 'disk.raw'), Buffer.alloc(MiB));
    });
    afterEach(async () => {
      serial?.close();
      if (handle) await make().kill(handle);
      handle = null;
      await rm(directory, { recursive: true, force: true });
    });
    const spec = (kernel: VmKernel, change: Partial<VmSpec> = {}): VmSpec => ({
      instanceId: randomUUID(),
      name: 'balloon',
      vcpus: 1,
      memoryBytes: has,
      disks: [{ id: 'd0', path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
      nics: [],
      kernel,
      machine: { balloon: true },
      netns: null,
      user: testUser,
      runDir: join(directory, 'run'),
      logDir: join(directory, 'log'),
      ...change,
    });
    const boot = async (wanted: VmSpec): Promise<{ driver: QemuDriver; vm: VmHandle; guest: SerialClient }> => {
      const driver = make();
      handle = await driver.start(wanted);
      serial = await SerialClient.connect(driver.serialSocket(handle));
      if (wanted.suspended !== true) await serial.expect('ready', 2 * minutes);
      return { driver, vm: handle, guest: serial };
    };
    const held = async (driver: QemuDriver, vm: VmHandle, bytes: number): Promise<void> => {
      const keeps = async (): Promise<boolean> => (await driver.memory(vm)).heldBytes === bytes;
      await waitFor(`the guest keeps ${bytes / MiB} MiB`, keeps, minutes);
    };
    const inGuest = async (guest: SerialClient, condition: string): Promise<void> => {
      await timed(guest, condition);
    };

    it('gives what it is asked for, tells what it has, and has all again, over a suspend too', async () => {
      const wanted = spec(await shellGuestKernel(directory, [driverOfBalloon]));
      const { driver, vm, guest } = await boot(wanted);
      expect((await driver.probe()).capabilities).toContain('balloon');
      // A guest that may take it back goes on counting it as its own, and as used.
      const available = 'set -- $(grep MemAvailable /proc/meminfo)';
      await inGuest(guest, `${available}; all=$2`);
      await driver.setBalloon(vm, has / 2);
      await held(driver, vm, has / 2);
      await inGuest(guest, `${available}; test $2 -le $((all - ${Math.floor((has / 2 / 1024) * 0.9)}))`);
      await waitFor(
        'what the guest says',
        async () => ((await driver.memory(vm)).guest?.availableBytes ?? has) < has / 2,
        minutes,
      );
      const { guest: says } = await driver.memory(vm);
      expect(says?.availableBytes).toBeGreaterThan(0);
      expect(says?.availableBytes).toBeLessThan(says?.totalBytes ?? 0);
      expect(Math.abs(Date.now() - Date.parse(says?.at ?? ''))).toBeLessThan(minutes);

      guest.close();
      await driver.suspend(vm, has);
      const again = await boot({ ...wanted, suspended: true });
      expect(await again.driver.memory(again.vm)).toMatchObject({ bytes: has, heldBytes: has / 2 });
      await again.driver.setBalloon(again.vm, has);
      await held(again.driver, again.vm, has);
      await inGuest(again.guest, `${available}; test $2 -gt $((all - 10240))`);
    });

    it('gives what it freed by itself', async () => {
      const { vm, guest } = await boot(spec(await shellGuestKernel(directory, [driverOfBalloon])));
      const resident = (): number => {
        const rollup = readFileSync(`/proc/${vm.process.pid}/smaps_rollup`, 'utf8');
        return Number(/^Rss:\s+(\d+) kB/m.exec(rollup)?.[1]) * 1024;
      };
      await inGuest(guest, 'dd if=/dev/zero of=/full bs=1M count=96 2>/dev/null');
      const full = resident();
      await inGuest(guest, 'rm /full');
      await waitFor('the host has it again', () => resident() < full - 64 * MiB, minutes);
    });

    it('takes from the balloon before it would end a program for want of memory', async () => {
      const { driver, vm, guest } = await boot(spec(await shellGuestKernel(directory, [driverOfBalloon])));
      await driver.setBalloon(vm, has / 2);
      await held(driver, vm, has / 2);
      await inGuest(guest, 'dd if=/dev/zero of=/full bs=1M count=96 2>/dev/null');
      expect((await driver.memory(vm)).heldBytes).toBeGreaterThan(has / 2);
      await inGuest(guest, 'test "$(wc -c </full)" -eq $((96 * 1048576)) && rm /full');
      // What it took it keeps until it is asked again.
      expect((await driver.memory(vm)).heldBytes).toBeGreaterThan(has / 2);
      await driver.setBalloon(vm, has / 2);
      await held(driver, vm, has / 2);
    });

    it('counts what came while it runs', async () => {
      const kernel = await shellGuestKernel(directory, [driverOfBalloon, 'drivers/virtio/virtio_mem.ko']);
      const { driver, vm, guest } = await boot(spec(kernel, { max: { vcpus: 1, memoryBytes: 2 * has } }));
      await inGuest(guest, 'echo online_movable >/sys/devices/system/memory/auto_online_blocks');
      const signal = new AbortController().signal;
      await driver.setMemory(vm, has + 128 * MiB, minutes, signal);
      expect(await driver.memory(vm)).toMatchObject({ bytes: has + 128 * MiB, heldBytes: has + 128 * MiB });
      await driver.setBalloon(vm, has);
      await held(driver, vm, has);
      expect(await driver.memory(vm)).toMatchObject({ bytes: has + 128 * MiB });
      await expect(driver.setBalloon(vm, 64 * MiB)).rejects.toMatchObject({ code: 'balloon_too_large' });
      await driver.setBalloon(vm, has + 128 * MiB);
      await held(driver, vm, has + 128 * MiB);
    });

    it('gives nothing without a driver, and tells nothing', async () => {
      const { driver, vm } = await boot(spec(await shellGuestKernel(directory, [])));
      await driver.setBalloon(vm, has / 2);
      expect(await driver.memory(vm)).toEqual({ bytes: has, heldBytes: has, guest: null });
    });
  });
}
