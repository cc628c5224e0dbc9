import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { exec } from '../../../src/core/host/processes/exec';
import { QemuDriver } from '../../../src/modules/compute/node/drivers/qemu/qemu.driver';
import type { VmDisk, VmHandle, VmNic, VmSpec } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { TestNamespaces } from '../../support/namespaces';
import { waitFor } from '../../support/wait-for';
import { SerialClient } from './serial-client';
import { shellGuestDisk, timed } from './shell-guest';
import { testSandbox, testUser } from './test-sandbox';

const minutes = 60_000;
jest.setTimeout(6 * minutes);

const binary = 'qemu-system-x86_64';
const mebibyte = 1024 * 1024;
/** What a bucket gives at once on top, and a clock that is read at the wrong end: a tenth. */
const tolerance = 0.9;

if (spawnSync(binary, ['--version']).status !== 0) {
  describe('qemu: limits', () => it.skip('needs qemu-system-x86_64', () => undefined));
} else {
  describe('qemu: limits of disks and cards, as a guest has them', () => {
    const namespaces = new TestNamespaces('t-vmm');
    const tap = 't-vmm-limit';
    let made = '';
    let image = '';
    let directory = '';
    let netns = '';
    let handle: VmHandle | null = null;
    let driver: QemuDriver;
    const servers: ChildProcess[] = [];
    beforeAll(async () => {
      made = await mkdtemp('/tmp/t-vmm-shell-');
      await chmod(made, 0o755);
      image = await shellGuestDisk(made);
    }, 2 * minutes);
    afterAll(() => rm(made, { recursive: true, force: true }));
    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-limits-');
      netns = namespaces.add('limits');
      const group = ['group', String(testSandbox.tapGroup)];
      await exec('ip', ['-n', netns, 'tuntap', 'add', 'dev', tap, 'mode', 'tap', ...group]);
      await exec('ip', ['-n', netns, 'address', 'add', '10.0.0.1/24', 'dev', tap]);
      await exec('ip', ['-n', netns, 'link', 'set', tap, 'up']);
      await copyFile(image, join(directory, 'disk.raw'));
      await mkdir(join(directory, 'disks'), { mode: 0o711 });
      driver = new QemuDriver(
        { binary, accel: 'tcg', cacheDir: join(made, 'cache'), sandbox: testSandbox },
        pino({ enabled: false }),
      );
    });
    afterEach(async () => {
      for (const server of servers.splice(0)) server.kill('SIGKILL');
      if (handle) await driver.kill(handle);
      handle = null;
      namespaces.close();
      await rm(directory, { recursive: true, force: true });
    });
    const disk = async (): Promise<VmDisk> => {
      const id = randomUUID();
      const path = join(directory, 'disks', `${id}.raw`);
      await writeFile(path, '');
      await truncate(path, 64 * mebibyte);
      return { id, path, format: 'raw', readonly: false, detachable: true };
    };
    const nic: VmNic = { id: randomUUID(), tap, mac: '52:54:00:00:00:01', mtu: 1500 };
    const spec = (change: Partial<VmSpec>): VmSpec => ({
      instanceId: randomUUID(),
      name: 'limits',
      vcpus: 1,
      memoryBytes: 256 * mebibyte,
      disks: [{ id: 'd0', path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
      diskFolders: [join(directory, 'disks')],
      nics: [nic],
      firmware: 'uefi',
      netns,
      user: testUser,
      runDir: join(directory, 'run'),
      logDir: join(directory, 'log'),
      ...change,
    });
    const start = async (wanted: VmSpec): Promise<SerialClient> => {
      handle = await driver.start(wanted);
      const serial = await SerialClient.connect(driver.serialSocket(handle));
      if (wanted.suspended !== true) await serial.expect('ready', 3 * minutes);
      return serial;
    };
    const end = async (): Promise<void> => {
      if (handle) await driver.kill(handle);
      handle = null;
    };
    /** Reads so many requests: a bucket lets the one pass that empties it, whatever its size. */
    const read = (name: string, count: number, size: string): string =>
      `dd if=/dev/${name} of=/dev/null bs=${size} count=${count} iflag=direct 2>&1`;
    const readMebibytes = (name: string, count: number): string => read(name, 16 * count, '64k');

    it('all disks together, those too that come while it runs, and after a suspend', async () => {
      const [first, second] = [await disk(), await disk()];
      const rate = mebibyte;
      const free = spec({ disks: [...spec({}).disks, first] });
      const unlimited = await start(free);
      const asFastAsItGoes = await timed(unlimited, readMebibytes('vdb', 6));
      unlimited.close();
      await end();

      const limits = { disk: { iops: null, bytesPerSecond: rate, burstSeconds: 2 }, nic: null };
      const wanted = { ...free, limits };
      let serial = await start(wanted);
      // Of six, two are there at once.
      const limited = await timed(serial, readMebibytes('vdb', 6));
      expect(limited).toBeGreaterThan(4 * tolerance);
      expect(limited).toBeGreaterThan(2 * asFastAsItGoes);
      // Its bucket is all but empty now.
      expect(await timed(serial, `(${readMebibytes('vda', 2)} & ${readMebibytes('vdb', 2)}; wait)`)).toBeGreaterThan(
        2 * tolerance,
      );

      if (!handle) throw new Error('it runs');
      serial.close();
      await driver.suspend(handle, wanted.memoryBytes);
      serial = await start({ ...wanted, suspended: true });
      expect(await timed(serial, readMebibytes('vdb', 6))).toBeGreaterThan(4 * tolerance);

      await driver.attachDisk(handle, second);
      await waitFor(
        'the disk',
        () =>
          timed(serial, 'test -b /dev/vdc').then(
            () => true,
            () => false,
          ),
        minutes,
      );
      expect(await timed(serial, readMebibytes('vdc', 4))).toBeGreaterThan(2 * tolerance);
      serial.close();
    });

    it('requests a second', async () => {
      const limits = { disk: { iops: 20, bytesPerSecond: null, burstSeconds: 1 }, nic: null };
      const serial = await start(spec({ disks: [...spec({}).disks, await disk()], limits }));
      expect(await timed(serial, read('vdb', 100, '4k'))).toBeGreaterThan(4 * tolerance);
      serial.close();
    });

    let port = 9000;
    /** Someone in the guest's network who waits for a connection, on a port that nobody had before. */
    const serve = async (before = ''): Promise<number> => {
      port += 1;
      const net = ['nsenter', `--net=/run/netns/${netns}`, '--'] as const;
      // Its input stays open: it would hang up else.
      servers.push(
        spawn(net[0], [...net.slice(1), 'sh', '-c', `${before} busybox nc -l -p ${port}`], {
          stdio: ['pipe', 'ignore', 'ignore'],
        }),
      );
      const listening = new RegExp(`:${port.toString(16).toUpperCase()} \\S+ 0A `);
      await waitFor('the server', async () =>
        listening.test((await exec(net[0], [...net.slice(1), 'cat', '/proc/net/tcp', '/proc/net/tcp6'])).stdout),
      );
      return port;
    };
    const source = (mebibytes: number): string => `dd if=/dev/zero bs=64k count=${16 * mebibytes} 2>/dev/null |`;
    /** Seconds that the guest takes to send, or to get, so much. */
    const sent = async (serial: SerialClient, mebibytes: number): Promise<number> =>
      timed(serial, `${source(mebibytes)} nc 10.0.0.1 ${await serve()}`);
    const received = async (serial: SerialClient, mebibytes: number): Promise<number> =>
      timed(serial, `test "$(nc 10.0.0.1 ${await serve(source(mebibytes))} | wc -c)" = ${mebibytes * mebibyte}`);
    const up = 'ip address add 10.0.0.2/24 dev eth0; ip link set eth0 up; ping -c 1 -w 20 10.0.0.1 >/dev/null';

    it('a card, both ways, and none any more once it is started without', async () => {
      expect((await driver.probe()).capabilities).toEqual(expect.arrayContaining(['disk-limits', 'nic-limits']));
      const much = 3;
      const limit = { bytesPerSecond: mebibyte / 2, burstSeconds: 2 };
      const wanted = spec({ nics: [{ ...nic, limit }], limits: { disk: null, nic: limit } });
      const serial = await start(wanted);
      await timed(serial, up);
      const slow = [await sent(serial, much), await received(serial, much)];
      serial.close();
      await end();
      // Of three mebibytes, one is there at once.
      for (const seconds of slow) expect(seconds).toBeGreaterThan(4 * tolerance);
      const tables = async () => (await exec('ip', ['netns', 'exec', netns, 'nft', 'list', 'tables'])).stdout.trim();
      expect(await tables()).toBe(`table netdev vc-limit-${tap}`);

      const { limits: _none, ...free } = wanted;
      const unlimited = await start({ ...free, nics: [nic] });
      await timed(unlimited, up);
      const fast = [await sent(unlimited, much), await received(unlimited, much)];
      unlimited.close();
      expect(await tables()).toBe('');
      fast.forEach((seconds, way) => expect(slow[way]).toBeGreaterThan(2 * seconds));
    });

    it('refuses what its host cannot do before anything is touched', async () => {
      const path = process.env['PATH'];
      const poorPath = join(directory, 'bin');
      await mkdir(poorPath);
      await writeFile(join(poorPath, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
      process.env['PATH'] = `${poorPath}:${path ?? ''}`;
      const limit = { bytesPerSecond: mebibyte, burstSeconds: 1 };
      try {
        expect((await driver.probe()).capabilities).not.toContain('nic-limits');
        await expect(driver.start(spec({ limits: { disk: null, nic: limit } }))).rejects.toMatchObject({
          code: 'no_such_machine',
          permanent: true,
          message: 'The instance asks for limits of how fast NICs are, which QEMU does not have on this host.',
        });
      } finally {
        process.env['PATH'] = path;
      }
      expect(await readdir(directory)).toEqual(expect.not.arrayContaining(['run', 'log']));
    });
  });
}
