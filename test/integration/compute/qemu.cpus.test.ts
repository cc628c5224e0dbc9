import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { threadsOf } from '../../../src/core/host/cpus/affinity';
import { QemuDriver } from '../../../src/modules/compute/node/drivers/qemu/qemu.driver';
import type { VmCpus, VmHandle, VmSpec } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { SerialClient } from './serial-client';
import { shellGuestDisk } from './shell-guest';
import { testSandbox, testUser } from './test-sandbox';

const minutes = 60_000;
jest.setTimeout(6 * minutes);

const binary = 'qemu-system-x86_64';
const MiB = 1024 * 1024;

if (spawnSync(binary, ['--version']).status !== 0) {
  describe('qemu: CPUs', () => it.skip('needs qemu-system-x86_64', () => undefined));
} else {
  describe('qemu: CPUs and NUMA nodes, as a guest and the kernel have them', () => {
    let made = '';
    let image = '';
    let directory = '';
    let handle: VmHandle | null = null;
    let driver: QemuDriver;
    beforeAll(async () => {
      made = await mkdtemp('/tmp/t-vmm-shell-');
      await chmod(made, 0o755);
      image = await shellGuestDisk(made);
    }, 2 * minutes);
    afterAll(() => rm(made, { recursive: true, force: true }));
    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-cpus-');
      await copyFile(image, join(directory, 'disk.raw'));
      driver = new QemuDriver(
        { binary, accel: 'tcg', cacheDir: join(made, 'cache'), sandbox: testSandbox },
        pino({ enabled: false }),
      );
    });
    afterEach(async () => {
      if (handle) await driver.kill(handle);
      handle = null;
      await rm(directory, { recursive: true, force: true });
    });
    const spec = (change: Partial<VmSpec>): VmSpec => ({
      instanceId: randomUUID(),
      name: 'cpus',
      vcpus: 2,
      memoryBytes: 512 * MiB,
      disks: [{ id: 'd0', path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
      nics: [],
      firmware: 'uefi',
      netns: null,
      user: testUser,
      runDir: join(directory, 'run'),
      logDir: join(directory, 'log'),
      ...change,
    });
    const start = async (wanted: VmSpec): Promise<{ serial: SerialClient; handle: VmHandle }> => {
      handle = await driver.start(wanted);
      const serial = await SerialClient.connect(driver.serialSocket(handle));
      if (wanted.suspended !== true) await serial.expect('ready', 3 * minutes);
      return { serial, handle };
    };
    /** What a command says in the guest, in one line. */
    const ask = async (serial: SerialClient, command: string): Promise<string> => {
      serial.type(`echo "<$(${command})>"\n`);
      return serial.read(/<([^>]*)>/, minutes);
    };
    const vcpusOf = async ({ process }: VmHandle): Promise<Record<string, string>> =>
      Object.fromEntries(
        (await threadsOf(process.pid))
          .filter(({ name }) => name.startsWith('CPU '))
          .map(({ name, allowed }) => [name.slice(0, 5), allowed.join()]),
      );

    it('each vCPU is on its own, crosswise too, and the rest of it on all of its own', async () => {
      const cpus: VmCpus = { own: [1, 0], process: [0, 1] };
      const wanted = spec({ cpus });
      const first = await start(wanted);
      expect(await vcpusOf(first.handle)).toEqual({ 'CPU 0': '1', 'CPU 1': '0' });
      const rest = (await threadsOf(first.handle.process.pid)).filter(({ name }) => !name.startsWith('CPU '));
      expect(rest.length).toBeGreaterThan(0);
      for (const { allowed } of rest) expect([0, 1]).toEqual(expect.arrayContaining(allowed));
      expect(await driver.confine(first.handle, cpus)).toBe(false);
      expect(await ask(first.serial, 'grep -c processor /proc/cpuinfo')).toBe('2');
      first.serial.close();
      await driver.suspend(first.handle, wanted.memoryBytes);
      const again = await start({ ...wanted, suspended: true });
      expect(await vcpusOf(again.handle)).toEqual({ 'CPU 0': '1', 'CPU 1': '0' });
      expect(await ask(again.serial, 'echo on')).toBe('on');
      again.serial.close();
    });

    it('a guest sees its NUMA nodes, and the memory of each is bound to a node of the host', async () => {
      const node = { hostNode: 0, vcpus: 1, memoryBytes: 256 * MiB };
      const { serial, handle: running } = await start(
        spec({ cpus: { own: [1, 0], process: [0, 1], nodes: [node, node] } }),
      );
      expect(await ask(serial, 'cd /sys/devices/system/node; echo $(ls -d node*) $(cat node*/cpulist)')).toBe(
        'node0 node1 0 1',
      );
      const sizes = (await ask(serial, "awk '/MemTotal/ {print $4}' /sys/devices/system/node/node*/meminfo | xargs"))
        .split(' ')
        .map((kib) => Number(kib) / 1024);
      expect(sizes).toHaveLength(2);
      for (const size of sizes) expect(size).toBeGreaterThan(128);
      const maps = await readFile(`/proc/${running.process.pid}/numa_maps`, 'utf8');
      expect(maps.split('\n').filter((line) => / bind:0 /.test(line)).length).toBeGreaterThanOrEqual(2);
      expect(await driver.size(running)).toEqual({ vcpus: 2, memoryBytes: 512 * MiB });
      serial.close();
    });

    it('fails by the words of QEMU where the host has no such node', async () => {
      const node = { hostNode: 77, vcpus: 2, memoryBytes: 512 * MiB };
      await expect(driver.start(spec({ cpus: { own: [0, 1], process: [0, 1], nodes: [node] } }))).rejects.toMatchObject(
        { code: 'vmm_start_failed' },
      );
    });
  });
}
