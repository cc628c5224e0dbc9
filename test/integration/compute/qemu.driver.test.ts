import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { QemuDriver } from '../../../src/modules/compute/node/drivers/qemu/qemu.driver';
import { exec } from '../../../src/core/host/exec';
import type { VmSpec } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { driverContract } from './driver.contract.suite';
import { SerialClient } from './serial-client';
import { serialGuestDisk } from './serial-guest';
import { testSandbox, testUser } from './test-sandbox';

jest.setTimeout(60_000);

const binary = 'qemu-system-x86_64';
if (spawnSync(binary, ['--version']).status !== 0) {
  describe('qemu: driver contract', () => it.skip('needs qemu-system-x86_64', () => undefined));
} else {
  let cacheDir = '';
  beforeAll(async () => (cacheDir = await mkdtemp('/tmp/t-vmm-probe-')));
  afterAll(() => rm(cacheDir, { recursive: true, force: true }));

  driverContract('qemu', () => ({
    make: () => new QemuDriver({ binary, accel: 'tcg', cacheDir, sandbox: testSandbox }, pino({ enabled: false })),
    usesResources: true,
    hasProcesses: true,
  }));

  describe('qemu: network', () => {
    const netns = 't-vmm-qemu';
    const tap = 't-vmm-tap';
    let directory: string;
    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-net-');
      await exec('ip', ['netns', 'del', netns]).catch(() => undefined);
      await exec('ip', ['netns', 'add', netns]);
      await exec('ip', ['-n', netns, 'tuntap', 'add', 'dev', tap, 'mode', 'tap', 'group', String(testSandbox.tapGroup)]);
    });
    afterEach(async () => {
      await exec('ip', ['netns', 'del', netns]);
      await rm(directory, { recursive: true, force: true });
    });

    it('runs inside its namespace, on its tap, in a session of its own', async () => {
      const driver = new QemuDriver({ binary, accel: 'tcg', cacheDir, sandbox: testSandbox }, pino({ enabled: false }));
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
        expect(stdout.trim()).toBe(String(pid));
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

    it('runs a UEFI with variables of the VM\'s own, which stay from start to start', async () => {
      const driver = new QemuDriver({ binary, accel: 'tcg', cacheDir, sandbox: testSandbox }, pino({ enabled: false }));
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
      const driver = new QemuDriver({ binary, accel: 'tcg', cacheDir, uefiFolders: [directory], sandbox: testSandbox }, pino({ enabled: false }));
      expect((await driver.probe()).capabilities).toEqual(expect.not.arrayContaining(['uefi']));
      const wanted = spec('uefi');
      await expect(driver.start(wanted)).rejects.toMatchObject({ code: 'no_such_firmware', permanent: true, message: 'The image boots by UEFI, which QEMU does not have on this host.' });
      expect(await readdir(directory)).toEqual(['disk.raw']);
      await driver.kill(await driver.start(spec('bios')));
    });
  });

  describe('qemu: probe', () => {
    it('says which accelerator and why, and remembers the trial', async () => {
      const driver = new QemuDriver({ binary, accel: 'auto', cacheDir, sandbox: testSandbox }, pino({ enabled: false }));
      const first = await driver.probe();
      expect(first).toMatchObject({ kind: 'qemu', usable: true });
      expect(first.version).toMatch(/^\d+\.\d+/);
      expect(['kvm', 'tcg']).toContain(first.accel);
      expect(first.reason).not.toBe('');
      // Of what runs the guests here: KVM needs no emulation.
      if (first.accel === 'tcg' && Number.parseInt(first.version, 10) < 10) expect(first.warning).toMatch(/Linux 6\.12 and newer/);
      else expect(first.warning).toBeUndefined();
      expect(await driver.probe()).toEqual(first);
    });

    it('is not usable when the program is missing, or KVM is demanded and does not work', async () => {
      const missing = await new QemuDriver({ binary: 'qemu-system-none', accel: 'auto', cacheDir, sandbox: testSandbox }, pino({ enabled: false })).probe();
      expect(missing).toMatchObject({ usable: false, reason: 'qemu-system-none is not installed' });
    });
  });
}
