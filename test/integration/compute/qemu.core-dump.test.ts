import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { coreDumpPipe } from '../../../src/modules/compute/node/drivers/qemu/qemu-core-dump';
import { qemuSockets } from '../../../src/modules/compute/node/drivers/qemu/qemu-arguments';
import { QemuDriver } from '../../../src/modules/compute/node/drivers/qemu/qemu.driver';
import { QmpClient } from '../../../src/modules/compute/node/drivers/qemu/qmp-client';
import { socketFolder } from '../../../src/modules/compute/node/drivers/common/vmm-files';
import type { VmHandle } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { exec } from '../../../src/core/host/processes/exec';
import { SerialClient } from './serial-client';
import { serialGuestDisk } from './serial-guest';
import { testSandbox, testUser } from './test-sandbox';

jest.setTimeout(90_000);

const never = new AbortController().signal;
const binary = 'qemu-system-x86_64';
const available = spawnSync(binary, ['--version']).status === 0;

(available ? describe : describe.skip)('core dumps of QEMU', () => {
  let directory: string;
  let handle: VmHandle;
  let serial: SerialClient;
  const driverOf = (): QemuDriver =>
    new QemuDriver(
      { binary, accel: 'tcg', cacheDir: join(directory, 'cache'), sandbox: testSandbox },
      pino({ enabled: false }),
    );
  const answers = async (): Promise<void> => {
    serial.type('x');
    await serial.expect('x', 10_000);
  };
  const dumping = { format: 'elf', limit: 2 ** 30, progress: () => undefined, signal: never } as const;

  beforeEach(async () => {
    directory = await mkdtemp('/tmp/t-vmm-core-');
    await writeFile(join(directory, 'disk.raw'), serialGuestDisk());
    const driver = driverOf();
    handle = await driver.start({
      instanceId: randomUUID(),
      name: 'core',
      vcpus: 1,
      memoryBytes: 128 * 1024 * 1024,
      disks: [{ id: 'd0', path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
      nics: [],
      netns: null,
      user: testUser,
      runDir: join(directory, 'run'),
      logDir: join(directory, 'log'),
    });
    serial = await SerialClient.connect(driver.serialSocket(handle));
    await serial.expect('ready', 30_000);
  });
  afterEach(async () => {
    serial.close();
    await driverOf().kill(handle);
    await rm(directory, { recursive: true, force: true });
  });

  it('wait for a reader when their agent died before QEMU opened the pipe: the next agent frees it', async () => {
    const folder = socketFolder(handle);
    const path = join(folder, coreDumpPipe);
    await exec('mkfifo', ['-m', '600', path]);
    await chown(path, handle.user, handle.user);
    const qmp = await QmpClient.connect(join(folder, qemuSockets.commands), handle.user, 5000);
    const asked = qmp
      .execute('dump-guest-memory', { paging: false, protocol: `file:${path}`, detach: true, format: 'elf' }, 500)
      .catch((error: unknown) => error);
    expect(await asked).toMatchObject({ errorClass: 'Timeout' });
    qmp.close();
    const next = driverOf();
    expect(await next.settleCoreDump(handle, never)).toBe('running');
    await answers();
    expect(await readdir(folder)).not.toContain(coreDumpPipe);
    const whole = join(handle.logDir, 'core');
    await next.coreDump(handle, { ...dumping, path: whole });
    expect(await next.settleCoreDump(handle, never)).toBe('running');
  });

  it('end with the reason when the disk is full: the guest goes on', async () => {
    const small = join(directory, 'small');
    await mkdir(small);
    await exec('mount', ['-t', 'tmpfs', '-o', 'size=32k', 'tmpfs', small]);
    const driver = driverOf();
    try {
      await expect(driver.coreDump(handle, { ...dumping, path: join(small, 'core') })).rejects.toMatchObject({
        code: 'ENOSPC',
      });
      expect(await driver.settleCoreDump(handle, never)).toBe('running');
      await answers();
    } finally {
      await exec('umount', [small]);
    }
  });

  it('are not written to what a VMM that was taken over put in place of the pipe', async () => {
    const driver = driverOf();
    const path = join(socketFolder(handle), coreDumpPipe);
    const elsewhere = join(directory, 'elsewhere');
    await writeFile(elsewhere, 'untouched', { mode: 0o666 });
    // What lies there before a dump goes.
    await exec('ln', ['-s', elsewhere, path]);
    await driver.coreDump(handle, { ...dumping, path: join(handle.logDir, 'core') });
    expect(await driver.settleCoreDump(handle, never)).toBe('running');
    await exec('ln', ['-s', elsewhere, path]);
    expect(await driver.settleCoreDump(handle, never)).toBe('running');
    expect((await exec('cat', [elsewhere])).stdout).toBe('untouched');
  });
});
