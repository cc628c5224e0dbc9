import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { PNG } from 'pngjs';
import { processStartTime } from '../../../src/core/host/processes/process-identity';
import { findProgram } from '../../../src/core/host/processes/find-program';
import { QemuDriver } from '../../../src/modules/compute/node/drivers/qemu/qemu.driver';
import { QemuScreens } from '../../../src/modules/compute/node/drivers/qemu/qemu-screens';
import type { VmHandle, VmSpec } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { eventually } from '../../support/eventually';
import { RfbClient } from './rfb-client';
import { serialGuestDisk } from './serial-guest';
import { testSandbox, testUser } from './test-sandbox';

jest.setTimeout(60_000);

const binary = 'qemu-system-x86_64';
const silent = pino({ enabled: false });
const colours = (png: Buffer): number => {
  const { data } = PNG.sync.read(png);
  return new Set(Array.from({ length: data.length / 4 }, (_, n) => data.readUInt32BE(4 * n))).size;
};

if (spawnSync(binary, ['--version']).status !== 0) {
  describe('qemu: screen', () => it.skip('needs qemu-system-x86_64', () => undefined));
} else {
  describe('qemu: screen', () => {
    let directory: string;
    let handle: VmHandle;
    let driver: QemuDriver;
    const viewers: RfbClient[] = [];
    const make = (program = binary): QemuDriver =>
      new QemuDriver({ binary: program, accel: 'tcg', cacheDir: directory, sandbox: testSandbox }, silent);
    const spec = (): VmSpec => ({
      instanceId: randomUUID(),
      name: 'screen',
      vcpus: 1,
      memoryBytes: 64 * 1024 * 1024,
      disks: [{ id: 'd0', path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
      nics: [],
      netns: null,
      user: testUser,
      runDir: join(directory, 'run'),
      logDir: join(directory, 'log'),
    });
    const sockets = (): string => join(directory, 'run', 's');

    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-screen-');
      await writeFile(join(directory, 'disk.raw'), serialGuestDisk());
    });
    afterEach(async () => {
      for (const viewer of viewers.splice(0)) viewer.close();
      if (handle.driver === 'qemu') await driver.kill(handle);
      await rm(directory, { recursive: true, force: true });
    });
    const start = async (program?: string): Promise<void> => {
      driver = make(program);
      handle = await driver.start(spec());
    };
    const view = async (shared: boolean): Promise<{ viewer: RfbClient; size: [number, number] | null }> => {
      const joined = await RfbClient.join(await driver.screen(handle), shared);
      viewers.push(joined.viewer);
      return joined;
    };

    it('is shared by any number of viewers, and by an agent that was started anew', async () => {
      await start();
      const first = await view(true);
      const second = await view(true);
      for (const { size } of [first, second]) expect(size?.every((length) => length >= 100)).toBe(true);
      // One that wants it for itself is turned away, and the others stay.
      const alone = await view(false);
      await alone.viewer.closed;
      expect(alone.size).toBeNull();
      driver = make();
      await driver.probe();
      expect((await view(true)).size).not.toBeNull();
      expect([first.viewer.over, second.viewer.over]).toEqual([false, false]);
      await driver.kill(handle);
      await Promise.all([first.viewer.closed, second.viewer.closed]);
      expect(await readdir(sockets())).toEqual([]);
      await expect(driver.screen(handle)).rejects.toMatchObject({ code: 'not_running' });
    });

    it('is photographed, also where QEMU writes no PNG, and leaves no file', async () => {
      await start();
      // Its firmware writes on it, in the text mode of a VGA; before it QEMU shows a line of its own in another size.
      await eventually('something on the screen', async () => {
        const shot = await driver.screenshot(handle);
        const { width, height } = PNG.sync.read(shot);
        return width === 720 && height === 400 && colours(shot) > 1;
      });
      const [one, same] = await Promise.all([driver.screenshot(handle), driver.screenshot(handle)]);
      expect(one).toBe(same);
      const byPpm = PNG.sync.read(await new QemuScreens(['ppm']).shoot(handle, true));
      expect([byPpm.width, byPpm.height]).toEqual([720, 400]);
      expect((await readdir(sockets())).filter((name) => !name.endsWith('.sock'))).toEqual([]);
    });

    it('is missing in a run of an older release until the next start', async () => {
      await start();
      await rm(join(sockets(), 'vnc.sock'));
      for (const asked of [driver.screen(handle), driver.screenshot(handle)])
        await expect(asked).rejects.toMatchObject({
          code: 'no_screen',
          permanent: true,
          message: expect.stringContaining('stop it and start it again') as string,
        });
      await driver.kill(handle);
      handle = await driver.start(spec());
      expect((await view(true)).size).not.toBeNull();
    });

    it('is missing with a QEMU that has no VNC, whose machines run all the same', async () => {
      const programs = join(directory, 'programs');
      await mkdir(programs, { mode: 0o755 });
      const without = join(programs, 'qemu-without-vnc');
      await writeFile(
        without,
        `#!/bin/sh\ncase "$*" in *-vnc*) echo 'qemu-system-x86_64: -vnc x: VNC support is disabled' >&2; exit 1;; esac\nexec ${findProgram(binary) ?? ''} "$@"\n`,
        { mode: 0o755 },
      );
      await start(without);
      const { usable, capabilities } = await driver.probe();
      expect([usable, capabilities.includes('vnc')]).toEqual([true, false]);
      expect(await driver.state(handle)).toBe('running');
      await expect(driver.screen(handle)).rejects.toMatchObject({
        code: 'no_screen',
        message: expect.stringContaining('no VNC') as string,
      });
    });

    it('follows no link that a VMM put in the place of its picture or its socket', async () => {
      const secret = join(directory, 'secret');
      await writeFile(secret, 'of root', { mode: 0o600 });
      await mkdir(sockets(), { recursive: true });
      let bystanders = 0;
      const other = createServer(() => (bystanders += 1)).listen(join(directory, 'other.sock'));
      await symlink(join(directory, 'other.sock'), join(sockets(), 'vnc.sock'));
      const monitor = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', (chunk: Buffer) => {
          for (const line of chunk.toString().trim().split('\n')) {
            const { id, execute } = JSON.parse(line) as { id: number; execute: string };
            const done = (): boolean => socket.write(`${JSON.stringify({ return: {}, id })}\n`);
            if (execute === 'screendump') void symlink(secret, join(sockets(), 'screen.img')).then(done);
            else done();
          }
        });
      });
      await new Promise<void>((resolve) => monitor.listen(join(sockets(), 'qmp.sock'), resolve));
      await chown(join(sockets(), 'qmp.sock'), testUser, testUser);
      const { instanceId, runDir, logDir, user } = spec();
      const own = { pid: process.pid, startTime: processStartTime(process.pid) ?? '' };
      // Not one that is ended afterwards: it is this very process.
      handle = { driver: 'none', instanceId, process: own, user, runDir, logDir, startedAt: '' };
      const screens = new QemuScreens();
      await expect(screens.shoot(handle, true)).rejects.toMatchObject({ code: 'ELOOP' });
      await expect(screens.connect(handle, true)).rejects.toMatchObject({ code: 'vmm_unresponsive' });
      expect(bystanders).toBe(0);
      expect((await readdir(sockets())).includes('screen.img')).toBe(false);
      await Promise.all([monitor, other].map((server) => new Promise((resolve) => server.close(resolve))));
    });
  });
}
