import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { processesNaming } from '../../../src/core/host/processes/processes-naming';
import { QemuDriver } from '../../../src/modules/compute/node/drivers/qemu/qemu.driver';
import type { VmHandle, VmSpec } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { SerialClient } from './serial-client';
import { signedGuestDisks } from './signed-guest';
import { testSandbox, testUser } from './test-sandbox';

const minutes = 60_000;
jest.setTimeout(4 * minutes);

const binary = 'qemu-system-x86_64';
if (spawnSync(binary, ['--version']).status !== 0) {
  describe('qemu: secure machines', () => it.skip('needs qemu-system-x86_64', () => undefined));
} else {
  describe('qemu: secure machines', () => {
    let made = '';
    let disks: { signed: string; unsigned: string };
    let directory = '';
    let handle: VmHandle | null = null;
    let driver: QemuDriver;
    beforeAll(async () => {
      made = await mkdtemp('/tmp/t-vmm-signed-');
      await chmod(made, 0o755);
      disks = await signedGuestDisks(made);
    });
    afterAll(() => rm(made, { recursive: true, force: true }));
    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-secure-');
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
    const spec = (disk: string, machine: VmSpec['machine'], folder = '.'): VmSpec => ({
      instanceId: randomUUID(),
      name: 'secure',
      vcpus: 1,
      memoryBytes: 256 * 1024 * 1024,
      disks: [{ id: 'd0', path: disk, format: 'raw', readonly: false }],
      nics: [],
      firmware: 'uefi',
      ...(machine && { machine }),
      netns: null,
      user: testUser,
      runDir: join(directory, folder, 'run'),
      logDir: join(directory, folder, 'log'),
    });
    const start = async (of: VmSpec): Promise<SerialClient> => {
      handle = await driver.start(of);
      return SerialClient.connect(driver.serialSocket(handle));
    };
    const end = async (): Promise<void> => {
      if (handle) await driver.kill(handle);
      handle = null;
    };
    /** How often its TPM was started, as it counts itself, after one of its answers. Part 2 of the specification, 10.11. */
    const starts = async (serial: SerialClient): Promise<number> => {
      serial.type('\n');
      const answer = Buffer.from(await serial.read(/clock: ([0-9a-f]+) end/), 'hex');
      expect(answer.readUInt32BE(6)).toBe(0);
      return answer.readUInt32BE(26);
    };
    const tpms = async () => (await processesNaming(join(directory, 'log', 'tpm'))).length;

    it('starts what is signed, and has a TPM that knows its earlier starts', async () => {
      expect((await driver.probe()).capabilities).toEqual(expect.arrayContaining(['secure-boot', 'tpm']));
      const wanted = spec(disks.signed, { secureBoot: true, tpm: true });
      const first = await start(wanted);
      expect(await first.read(/boot: (\d)/, 2 * minutes)).toBe('1');
      expect(await first.read(/tpm: (\w+)/)).toBe('2');
      const before = await starts(first);
      expect(await tpms()).toBe(1);
      // Nobody else on the host may read what it keeps.
      const { uid, mode } = await stat(join(wanted.logDir, 'tpm'));
      expect([uid, mode & 0o777]).toEqual([testUser, 0o700]);
      first.close();
      await end();
      expect(await tpms()).toBe(0);
      expect(await readdir(join(wanted.runDir, 's'))).toEqual([]);

      const second = await start(wanted);
      await second.expect('tpm: 2', 2 * minutes);
      expect(await starts(second)).toBe(before + 1);

      // Its memory and what its TPM has in mind go together.
      const suspended = handle;
      if (!suspended) throw new Error('it runs');
      second.close();
      await driver.suspend(suspended, wanted.memoryBytes);
      expect(await tpms()).toBe(0);
      const again = await start({ ...wanted, suspended: true });
      expect(await starts(again)).toBe(before + 1);
      again.close();
    });

    it('does not start what nobody has signed', async () => {
      const refusing = await start(spec(disks.unsigned, { secureBoot: true }));
      await refusing.expect('Access Denied', 2 * minutes);
      refusing.close();
      await end();
      const willing = await start(spec(disks.unsigned, undefined, 'other'));
      await willing.expect('starting Boot0001', 2 * minutes);
      willing.close();
    });

    it('refuses what its host cannot do before anything is touched', async () => {
      const poor = new QemuDriver(
        { binary, accel: 'tcg', cacheDir: join(made, 'cache'), uefiFolders: [directory], sandbox: testSandbox },
        pino({ enabled: false }),
      );
      expect((await poor.probe()).capabilities).not.toContain('secure-boot');
      await expect(poor.start({ ...spec(disks.signed, { secureBoot: true }), firmware: 'bios' })).rejects.toMatchObject(
        {
          code: 'no_such_machine',
          permanent: true,
          message: 'The instance asks for Secure Boot, which QEMU does not have on this host.',
        },
      );
      expect(await readdir(directory)).toEqual([]);
    });

    it('leaves nothing of a start whose TPM cannot be started, or whose QEMU fails beside it', async () => {
      const wanted = spec(disks.signed, { tpm: true });
      const missing = { ...wanted, disks: [{ ...wanted.disks[0]!, id: 'd0', path: join(directory, 'none.raw') }] };
      await expect(driver.start(missing)).rejects.toMatchObject({ code: 'disk_missing' });
      await writeFile(join(directory, 'swtpm'), '#!/bin/sh\necho no room >&2\nexit 1\n', { mode: 0o755 });
      const path = process.env['PATH'];
      process.env['PATH'] = `${directory}:${path ?? ''}`;
      try {
        await expect(driver.start(wanted)).rejects.toMatchObject({ code: 'companion_failed', permanent: false });
      } finally {
        process.env['PATH'] = path;
        await rm(join(directory, 'swtpm'));
      }
      expect(await readdir(directory)).toEqual([]);
      // Its TPM listens by then: another machine writes to the disk, which QEMU finds out.
      await start(spec(disks.signed, undefined, 'other'));
      await expect(driver.start(wanted)).rejects.toMatchObject({ code: 'disk_locked' });
      expect(await readdir(directory)).toEqual(['other']);
      expect(await processesNaming(join(directory, 'run'))).toEqual([]);
      expect(await processesNaming(join(directory, 'log'))).toEqual([]);
    });
  });
}
