import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { processStartTime } from '../../../src/core/host/processes/process-identity';
import { qemuArguments } from '../../../src/modules/compute/node/drivers/qemu/qemu-arguments';
import { QemuDriver } from '../../../src/modules/compute/node/drivers/qemu/qemu.driver';
import { exec } from '../../../src/core/host/processes/exec';
import type { VmHandle, VmSpec } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { TestNamespaces } from '../../support/namespaces';
import { driverContract } from './driver.contract.suite';
import { waitFor } from '../../support/wait-for';
import { parentOf } from '../host/launcher-process';
import { SerialClient } from './serial-client';
import { serialGuestDisk } from './serial-guest';
import { testSandbox, testUser } from './test-sandbox';

jest.setTimeout(60_000);

const binary = 'qemu-system-x86_64';
/** A lab host has a KVM that works (test/lab). */
const accel = process.env['VC_STACK_TEST_ACCEL'] === 'kvm' ? 'kvm' : 'tcg';
if (spawnSync(binary, ['--version']).status !== 0) {
  describe('qemu: driver contract', () => it.skip('needs qemu-system-x86_64', () => undefined));
} else {
  let cacheDir = '';
  beforeAll(async () => (cacheDir = await mkdtemp('/tmp/t-vmm-probe-')));
  afterAll(() => rm(cacheDir, { recursive: true, force: true }));

  driverContract('qemu', () => ({
    make: () =>
      new QemuDriver({ binary, accel, vsock: true, cacheDir, sandbox: testSandbox }, pino({ enabled: false })),
    usesResources: true,
    hasProcesses: true,
    holdsDevices: true,
    keepsMemory: true,
    bootsKernels: true,
  }));

  describe('qemu: network', () => {
    const namespaces = new TestNamespaces('t-vmm');
    let netns: string;
    const tap = 't-vmm-tap';
    let directory: string;
    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-net-');
      netns = namespaces.add('qemu');
      await exec('ip', [
        '-n',
        netns,
        'tuntap',
        'add',
        'dev',
        tap,
        'mode',
        'tap',
        'group',
        String(testSandbox.tapGroup),
      ]);
    });
    afterEach(async () => {
      namespaces.close();
      await rm(directory, { recursive: true, force: true });
    });

    it('runs inside its namespace, on its tap, in a session of its own', async () => {
      const driver = new QemuDriver({ binary, accel, cacheDir, sandbox: testSandbox }, pino({ enabled: false }));
      await writeFile(join(directory, 'disk.raw'), serialGuestDisk());
      const handle = await driver.start({
        instanceId: randomUUID(),
        name: 'net',
        vcpus: 2,
        memoryBytes: 64 * 1024 * 1024,
        disks: [{ id: 'd0', path: join(directory, 'disk.raw'), format: 'raw', readonly: true }],
        nics: [{ id: 'n0', tap, mac: '52:54:00:00:00:01', mtu: 1450 }],
        netns,
        user: testUser,
        runDir: join(directory, 'run'),
        logDir: join(directory, 'log'),
      });
      try {
        const { pid } = handle.process;
        expect(await readlink(`/proc/${pid}/exe`)).toContain('qemu');
        expect(await readlink(`/proc/${pid}/ns/net`)).not.toBe(await readlink('/proc/self/ns/net'));
        const { stdout } = await exec('ip', ['netns', 'pids', netns]);
        // Beside it only who waits for it.
        expect(stdout.trim().split('\n').sort()).toEqual([String(pid), String(parentOf(pid))].sort());
        // Field 6 of stat is the session: its own.
        const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ');
        expect(fields?.[3]).toBe(String(pid));
        expect((await exec('ip', ['-n', netns, '-o', 'link', 'show', 'dev', tap])).stdout).toContain(tap);
      } finally {
        await driver.kill(handle);
      }
      // The tap is the network's, not the VMM's: it stays.
      await exec('ip', ['-n', netns, 'link', 'show', 'dev', tap]);
    });
  });

  describe('qemu: firmware', () => {
    let directory: string;
    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-uefi-');
      await writeFile(join(directory, 'disk.raw'), serialGuestDisk());
    });
    afterEach(() => rm(directory, { recursive: true, force: true }));
    const spec = (firmware: 'bios' | 'uefi'): VmSpec => ({
      instanceId: randomUUID(),
      name: 'firmware',
      vcpus: 1,
      memoryBytes: 128 * 1024 * 1024,
      disks: [{ id: 'd0', path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
      nics: [],
      firmware,
      netns: null,
      user: testUser,
      runDir: join(directory, 'run'),
      logDir: join(directory, 'log'),
    });

    it("runs a UEFI with variables of the VM's own, which stay from start to start", async () => {
      const driver = new QemuDriver({ binary, accel, cacheDir, sandbox: testSandbox }, pino({ enabled: false }));
      expect((await driver.probe()).capabilities).toEqual(expect.arrayContaining(['bios', 'uefi']));
      const wanted = spec('uefi');
      const variables = join(wanted.logDir, 'uefi-vars.fd');
      const first = await driver.start(wanted);
      try {
        const serial = await SerialClient.connect(driver.serialSocket(first));
        // What OVMF says when it looks for something to boot; a BIOS would have started the disk's first sector.
        await serial.expect('BdsDxe', 40_000);
        serial.close();
      } finally {
        await driver.kill(first);
      }
      const written = await readFile(variables);
      expect(written.length).toBeGreaterThan(0);
      await writeFile(variables, written);
      const before = await stat(variables);
      await driver.kill(await driver.start(wanted));
      expect((await stat(variables)).ino).toBe(before.ino);
    });

    it('refuses what the host does not have before anything is touched', async () => {
      const driver = new QemuDriver(
        { binary, accel, cacheDir, uefiFolders: [directory], sandbox: testSandbox },
        pino({ enabled: false }),
      );
      expect((await driver.probe()).capabilities).toEqual(expect.not.arrayContaining(['uefi']));
      const wanted = spec('uefi');
      await expect(driver.start(wanted)).rejects.toMatchObject({
        code: 'no_such_firmware',
        permanent: true,
        message: 'The image boots by UEFI, which QEMU does not have on this host.',
      });
      expect(await readdir(directory)).toEqual(['disk.raw']);
      await driver.kill(await driver.start(spec('bios')));
    });
  });

  describe('qemu: a guest that panics', () => {
    it('is told of, and its machine goes on', async () => {
      const directory = await mkdtemp('/tmp/t-vmm-panic-');
      const driver = new QemuDriver({ binary, accel, cacheDir, sandbox: testSandbox }, pino({ enabled: false }));
      // Waits for a key on 0x3f8 (0x3fd says that there is one), tells the panic device at 0x505, and halts.
      const disk = Buffer.alloc(1024 * 1024);
      Buffer.from('bafd03eca80174fbba0505b001eef4ebfd', 'hex').copy(disk);
      disk.writeUInt16LE(0xaa55, 510);
      await writeFile(join(directory, 'disk.raw'), disk);
      const handle = await driver.start({
        instanceId: randomUUID(),
        name: 'panic',
        vcpus: 1,
        memoryBytes: 64 * 1024 * 1024,
        disks: [{ id: 'd0', path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
        nics: [],
        netns: null,
        user: testUser,
        runDir: join(directory, 'run'),
        logDir: join(directory, 'log'),
      });
      const stop = new AbortController();
      try {
        const serial = await SerialClient.connect(driver.serialSocket(handle));
        const told: string[] = [];
        driver.waitExit(handle, stop.signal, ({ kind }) => told.push(kind)).catch(() => undefined);
        await waitFor(
          'the panic',
          () => {
            serial.type('c');
            return told.length > 0;
          },
          20_000,
        );
        serial.close();
        expect(told).toEqual(['panic']);
        expect(await driver.state(handle)).toBe('running');
      } finally {
        stop.abort();
        await driver.kill(handle);
        await rm(directory, { recursive: true, force: true });
      }
    });
  });

  describe('qemu: hostile and old VMMs', () => {
    let directory: string;
    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-old-');
      await writeFile(join(directory, 'disk.raw'), serialGuestDisk());
    });
    afterEach(() => rm(directory, { recursive: true, force: true }));
    const make = (): QemuDriver =>
      new QemuDriver({ binary, accel, cacheDir, sandbox: testSandbox }, pino({ enabled: false }));
    const spec = (user: number): VmSpec => ({
      instanceId: randomUUID(),
      name: 'old',
      vcpus: 1,
      memoryBytes: 64 * 1024 * 1024,
      disks: [{ id: 'd0', path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
      nics: [],
      netns: null,
      user,
      runDir: join(directory, 'run'),
      logDir: join(directory, 'log'),
    });

    it('adopts a VM of a build that ran VMMs as root, and ends it', async () => {
      const old = spec(0);
      await mkdir(old.runDir);
      const child = spawn(binary, qemuArguments(old, accel), { stdio: 'ignore' });
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      const process = { pid: child.pid ?? 0, startTime: processStartTime(child.pid ?? 0) ?? '' };
      const handle: VmHandle = {
        driver: 'qemu',
        instanceId: old.instanceId,
        process,
        user: 0,
        runDir: old.runDir,
        logDir: old.logDir,
        startedAt: new Date().toISOString(),
      };
      const driver = make();
      while ((await driver.state(handle).catch(() => 'starting')) !== 'running') await delay(20);
      const exit = driver.waitExit(handle, new AbortController().signal);
      await driver.kill(handle);
      await gone;
      expect(await exit).toMatchObject({ cause: 'forced' });
      // The disk was root's; the next start is in the new way.
      const again = await driver.start(spec(testUser));
      expect(await driver.state(again)).toBe('running');
      await driver.kill(again);
    });

    it('follows no link that a VMM put in the place of its socket, and ends it all the same', async () => {
      const driver = make();
      const handle = await driver.start(spec(testUser));
      const sockets = join(handle.runDir, 's');
      const other = join(directory, 'other.sock');
      let reached = 0;
      const bystander = createServer(() => (reached += 1)).listen(other);
      for (const name of ['qmp.sock', 'serial.sock']) await rm(join(sockets, name));
      await symlink(other, join(sockets, 'qmp.sock'));
      await mkdir(join(sockets, 'serial.sock'));
      await expect(driver.state(handle)).rejects.toMatchObject({ code: 'vmm_unresponsive' });
      await driver.kill(handle);
      expect(await driver.state(handle)).toBe('stopped');
      expect(await readdir(sockets)).toEqual([]);
      expect(reached).toBe(0);
      await new Promise((resolve) => bystander.close(resolve));
    });
  });

  describe('qemu: probe', () => {
    it('says which accelerator and why, and remembers the trial', async () => {
      const driver = new QemuDriver(
        { binary, accel: 'auto', cacheDir, sandbox: testSandbox },
        pino({ enabled: false }),
      );
      const first = await driver.probe();
      expect(first).toMatchObject({ kind: 'qemu', usable: true });
      expect(first.version).toMatch(/^\d+\.\d+/);
      expect(['kvm', 'tcg']).toContain(first.accel);
      expect(first.reason).not.toBe('');
      // Of what runs the guests here: KVM needs no emulation.
      if (first.accel === 'tcg' && Number.parseInt(first.version, 10) < 10)
        expect(first.warning).toMatch(/Linux 6\.12 and newer/);
      else expect(first.warning).toBeUndefined();
      expect(await driver.probe()).toEqual(first);
    });

    it('is not usable when the program is missing, or KVM is demanded and does not work', async () => {
      const missing = await new QemuDriver(
        { binary: 'qemu-system-none', accel: 'auto', cacheDir, sandbox: testSandbox },
        pino({ enabled: false }),
      ).probe();
      expect(missing).toMatchObject({ usable: false, reason: 'qemu-system-none is not installed' });
    });
  });
}
