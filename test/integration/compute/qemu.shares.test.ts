import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { isRunning, signalProcess } from '../../../src/core/host/processes/process-identity';
import { processesNaming } from '../../../src/core/host/processes/processes-naming';
import { QemuDriver } from '../../../src/modules/compute/node/drivers/qemu/qemu.driver';
import type { VmHandle, VmKernel, VmShare, VmSpec } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { virtiofsd as findVirtiofsd } from '../../support/virtiofsd';
import { waitFor } from '../../support/wait-for';
import { SerialClient } from './serial-client';
import { shellGuestKernel, timed } from './shell-guest';
import { testSandbox, testUser } from './test-sandbox';

const minutes = 60_000;
jest.setTimeout(4 * minutes);

const binary = 'qemu-system-x86_64';
const accel = process.env['VC_STACK_TEST_ACCEL'] === 'kvm' ? 'kvm' : 'tcg';
const MiB = 1024 * 1024;
const owner = testUser + 1;
const modules = ['fs/fuse/fuse.ko', 'fs/fuse/virtiofs.ko', 'drivers/virtio/virtio_mem.ko'];

const virtiofsd = findVirtiofsd();

if (spawnSync(binary, ['--version']).status !== 0 || virtiofsd === null) {
  describe('qemu: shares', () => it.skip('needs qemu-system-x86_64 and a virtiofsd', () => undefined));
} else {
  describe('qemu: shares', () => {
    let made = '';
    let kernel: VmKernel;
    let directory = '';
    let handles: VmHandle[] = [];
    let serials: SerialClient[] = [];
    const make = (): QemuDriver =>
      new QemuDriver(
        { binary, accel, virtiofsd, cacheDir: join(made, 'cache'), sandbox: testSandbox },
        pino({ enabled: false }),
      );
    beforeAll(async () => {
      made = await mkdtemp('/tmp/t-vmm-shares-');
      await chmod(made, 0o755);
      kernel = await shellGuestKernel(made, modules);
    });
    afterAll(() => rm(made, { recursive: true, force: true }));
    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-share-');
      await chmod(directory, 0o711);
      await writeFile(join(directory, 'secret'), 'of nobody else');
      handles = [];
      serials = [];
    });
    afterEach(async () => {
      for (const serial of serials) serial.close();
      for (const handle of handles) await make().kill(handle);
      await rm(directory, { recursive: true, force: true });
    });
    const share = async (tag: string, readonly = false): Promise<VmShare> => {
      const path = join(directory, 'shared', tag);
      await mkdir(path, { recursive: true });
      await chown(path, owner, owner + 1);
      return { tag, path, readonly, user: owner, group: owner + 1 };
    };
    const spec = (name: string, shares: VmShare[], change: Partial<VmSpec> = {}): VmSpec => ({
      instanceId: randomUUID(),
      name,
      vcpus: 1,
      memoryBytes: 128 * MiB,
      disks: [],
      nics: [],
      kernel,
      hardware: { sharedMemory: true },
      shares,
      netns: null,
      user: testUser,
      runDir: join(directory, name, 'run'),
      logDir: join(directory, name, 'log'),
      ...change,
    });
    const boot = async (wanted: VmSpec): Promise<{ driver: QemuDriver; vm: VmHandle; guest: SerialClient }> => {
      const driver = make();
      const vm = await driver.start(wanted);
      handles.push(vm);
      const guest = await SerialClient.connect(driver.serialSocket(vm));
      serials.push(guest);
      await guest.expect('ready', 2 * minutes);
      return { driver, vm, guest };
    };
    const daemons = async (name: string) => processesNaming(join(directory, name, 'run', 'f'));

    it('gives two guests one directory as its owner, to one of them for reading, and nothing beside it', async () => {
      const media = await share('media');
      const { driver, vm, guest } = await boot(spec('one', [media]));
      expect((await driver.probe()).capabilities).toContain('virtio-fs');
      await timed(guest, 'mkdir /m && mount -t virtiofs media /m && echo hello >/m/file');
      const file = await lstat(join(media.path, 'file'));
      expect([file.uid, file.gid]).toEqual([owner, owner + 1]);
      const reader = await boot(spec('two', [{ ...media, readonly: true }], { user: testUser + 8 }));
      await timed(reader.guest, 'mkdir /m && mount -t virtiofs media /m && test "$(cat /m/file)" = hello');
      await timed(reader.guest, '! echo other >/m/file && ! touch /m/none && ! rm /m/file');
      // The guest is the directory's owner and nobody else: not root, no devices.
      await timed(guest, '! chown 7 /m/file && ! mknod /m/null c 1 3');
      await writeFile(join(media.path, 'of-root'), 'x', { mode: 0o600 });
      await timed(guest, '! cat /m/of-root');
      await timed(guest, `ln -s ${join(directory, 'secret')} /m/link && ! cat /m/link`);
      await symlink(join(directory, 'secret'), join(media.path, 'link-of-host'));
      await timed(guest, '! cat /m/link-of-host && ! cat /m/../secret');
      // Who gives it sees the directory, and nothing of the machine.
      const [daemon] = await daemons('one');
      const root = `/proc/${daemon?.pid ?? 0}/root`;
      expect(await readdir(join(root, directory))).toEqual(['one', 'shared']);
      expect(existsSync(join(root, 'etc/passwd'))).toBe(false);
      const status = await readFile(`/proc/${daemon?.pid ?? 0}/status`, 'utf8');
      expect(status).toMatch(new RegExp(`^Uid:\t${owner}\t${owner}\t${owner}\t${owner}$`, 'm'));
      expect(status).toMatch(/^CapEff:\t0+$/m);
      expect(status).toMatch(/^CapBnd:\t0+$/m);
      expect(status).toMatch(/^Seccomp:\t2$/m);
      const cgroup = await readFile(`/proc/${daemon?.pid ?? 0}/cgroup`, 'utf8');
      expect(cgroup).toBe(await readFile(`/proc/${vm.process.pid}/cgroup`, 'utf8'));

      await driver.kill(vm);
      expect(await daemons('one')).toEqual([]);
      expect(await readdir(vm.runDir)).not.toContain('f');
      await timed(reader.guest, 'test "$(cat /m/file)" = hello');
    });

    it('goes on when its daemon dies, and says which; the next start has it again', async () => {
      const wanted = spec('one', [await share('media'), await share('docs')]);
      const { driver, vm, guest } = await boot(wanted);
      await timed(guest, 'mkdir /m /d && mount -t virtiofs media /m && mount -t virtiofs docs /d && echo a >/d/a');
      expect(vm.beside?.map(({ name }) => name).sort()).toEqual(['share "docs"', 'share "media"']);
      const daemon = vm.beside?.find(({ name }) => name === 'share "media"');
      if (!daemon) throw new Error('it has one');
      signalProcess(daemon.process, 'SIGKILL');
      await waitFor('it is gone', () => !isRunning(daemon.process), minutes);
      await timed(guest, 'test "$(cat /d/a)" = a');
      expect(await driver.state(vm)).toBe('running');
      await driver.kill(vm);
      const again = await boot(wanted);
      await timed(again.guest, 'mkdir /m && mount -t virtiofs media /m && echo b >/m/b');
    });

    it('keeps its shares over a reset and a pause, gets memory while it runs, and tells it', async () => {
      const more = { memoryBytes: 256 * MiB, max: { vcpus: 1, memoryBytes: 512 * MiB } };
      const wanted = spec('one', [await share('media')], more);
      const { driver, vm, guest } = await boot(wanted);
      await timed(guest, 'mkdir /m && mount -t virtiofs media /m && echo a >/m/a');
      await driver.pause(vm);
      await driver.resume(vm);
      await timed(guest, 'test "$(cat /m/a)" = a');
      await driver.reset(vm);
      await guest.expect('ready', 2 * minutes);
      await timed(guest, 'mkdir /m && mount -t virtiofs media /m && test "$(cat /m/a)" = a && echo b >/m/b');
      expect(await readFile(join(wanted.shares?.[0]?.path ?? '', 'b'), 'utf8')).toBe('b\n');
      await timed(guest, 'echo online_movable >/sys/devices/system/memory/auto_online_blocks');
      await driver.setMemory(vm, 384 * MiB, minutes, new AbortController().signal);
      expect(await driver.size(vm)).toEqual({ vcpus: 1, memoryBytes: 384 * MiB });
      // What is read into it comes by way of the daemon.
      await timed(guest, 'dd if=/dev/zero of=/m/large bs=1M count=64 2>/dev/null && cat /m/large >/dev/null');
      const path = join(wanted.logDir, 'dump');
      const limit = 512 * MiB;
      const signal = new AbortController().signal;
      await driver.coreDump(vm, { format: 'elf', path, limit, progress: () => undefined, signal });
      expect((await lstat(path)).size).toBeGreaterThan(256 * MiB);
      await timed(guest, 'test "$(cat /m/b)" = b');
    });

    it('is not suspended, and refuses before anything is touched what it cannot do', async () => {
      const { driver, vm, guest } = await boot(spec('one', [await share('media')]));
      await expect(driver.suspend(vm, 128 * MiB)).rejects.toMatchObject({ code: 'has_shares', permanent: true });
      expect(await driver.state(vm)).toBe('running');
      await timed(guest, 'true');
      const poor = new QemuDriver(
        { binary, accel, virtiofsd: '/bin/true', cacheDir: join(made, 'cache'), sandbox: testSandbox },
        pino({ enabled: false }),
      );
      expect((await poor.probe()).capabilities).not.toContain('virtio-fs');
      const other = spec('two', [await share('media')]);
      await expect(poor.start(other)).rejects.toMatchObject({
        code: 'no_such_machine',
        message: 'The instance asks for shares (virtio-fs), which QEMU does not have on this host.',
      });
      expect(existsSync(other.runDir)).toBe(false);
    });

    it('leaves nothing of a start whose directory is gone, or became another one', async () => {
      const media = await share('media');
      await rm(media.path, { recursive: true });
      const wanted = spec('one', [await share('docs'), media]);
      await expect(make().start(wanted)).rejects.toMatchObject({ name: 'VerbFailure' });
      expect(await daemons('one')).toEqual([]);
      await mkdir(join(directory, 'of-root'));
      await symlink(join(directory, 'of-root'), media.path);
      await expect(make().start(wanted)).rejects.toMatchObject({ code: 'share_unusable' });
      expect(await daemons('one')).toEqual([]);
      expect(existsSync(wanted.runDir)).toBe(false);
    });
  });
}
