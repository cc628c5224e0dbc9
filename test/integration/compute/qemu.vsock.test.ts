import { spawn, spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { isRunning } from '../../../src/core/host/processes/process-identity';
import { vhostVsock } from '../../../src/modules/compute/node/drivers/qemu/qemu-vsock';
import { dialCid } from '../../../src/modules/compute/node/drivers/qemu/qemu-vsock-dial';
import { QemuDriver } from '../../../src/modules/compute/node/drivers/qemu/qemu.driver';
import type { VmHandle, VmKernel, VmSpec } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { vsockListener } from '../../support/vsock-listener';
import { waitFor } from '../../support/wait-for';
import { SerialClient } from './serial-client';
import { shellGuestKernel, timed } from './shell-guest';
import { testSandbox, testUser } from './test-sandbox';

const minutes = 60_000;
jest.setTimeout(14 * minutes);

const binary = 'qemu-system-x86_64';
const accel = process.env['VC_STACK_TEST_ACCEL'] === 'kvm' ? 'kvm' : 'tcg';
const MiB = 1024 * 1024;
const has = 192 * MiB;
/** At which the guest sends back what comes. */
const echo = 77;
const listener = vsockListener();

/** Programs at present whose command line matches. */
const processes = (pattern: RegExp): number =>
  readdirSync('/proc').filter((pid) => {
    try {
      return pattern.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
    } catch {
      return false;
    }
  }).length;
/** All that a stream is carried by, from its first moment on. */
const carriers = (): number => processes(/bwrap\0.*VSOCK-CONNECT/);

const heard = async (stream: Socket, bytes: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer);
    if (Buffer.concat(chunks).length >= bytes) break;
  }
  return Buffer.concat(chunks);
};
const says = async (stream: Socket, text: string): Promise<string> => {
  stream.write(text);
  return (await heard(stream, text.length)).toString();
};

if (spawnSync('socat', ['-V']).status !== 0) {
  describe('qemu: vsock', () => it.skip('needs socat', () => undefined));
} else {
  describe('what carries streams to guests', () => {
    it('says when nobody answers, in time, and leaves nothing', async () => {
      const begun = Date.now();
      // No guest's number.
      await expect(dialCid(0x7ffffff0, echo, testUser)).rejects.toMatchObject({
        code: 'vsock_silent',
        permanent: false,
      });
      for (const ms of [1, 2, 4, 6, 8, 12, 16, 24])
        await expect(dialCid(0x7ffffff0, echo, testUser, ms)).rejects.toMatchObject({ code: 'vsock_silent' });
      expect(Date.now() - begun).toBeLessThan(5000);
      await waitFor('no program is left', () => carriers() === 0, 5000);
    });

    it('ends with its agent', async () => {
      const dial = `require('./src/modules/compute/node/drivers/qemu/qemu-vsock-dial.ts').dialCid(0x7ffffff0, 77, ${testUser})`;
      const agent = spawn(process.execPath, ['-r', './test/support/ts-register.js', '-e', dial], { stdio: 'ignore' });
      await waitFor('a program', () => processes(/^\/usr\/bin\/socat\0VSOCK-CONNECT/) > 0, 30_000);
      const seen = Date.now();
      agent.kill('SIGKILL');
      await waitFor('no program is left', () => carriers() === 0, 5000);
      // It would wait for two seconds by itself.
      expect(Date.now() - seen).toBeLessThan(1000);
    });
  });
}

if (listener === null || !existsSync(vhostVsock) || spawnSync(binary, ['--version']).status !== 0) {
  describe('qemu: vsock', () => it.skip(`needs qemu-system-x86_64, socat and ${vhostVsock}`, () => undefined));
} else {
  describe('qemu: ports of a real guest', () => {
    let made = '';
    let directory = '';
    const started: VmHandle[] = [];
    const consoles: SerialClient[] = [];
    const make = (): QemuDriver =>
      new QemuDriver(
        { binary, accel, vsock: true, cacheDir: join(made, 'cache'), sandbox: testSandbox },
        pino({ enabled: false }),
      );
    beforeAll(async () => {
      made = await mkdtemp('/tmp/t-vmm-vsocks-');
      await chmod(made, 0o755);
    });
    afterAll(() => rm(made, { recursive: true, force: true }));
    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-vsock-');
      await chmod(directory, 0o711);
    });
    afterEach(async () => {
      for (const one of consoles.splice(0)) one.close();
      for (const one of started.splice(0)) await make().kill(one);
      await rm(directory, { recursive: true, force: true });
    });
    const guestKernel = async (): Promise<VmKernel> => {
      const kernel = await shellGuestKernel(directory, []);
      const initramfs = join(directory, 'initrd-and-listener');
      await writeFile(initramfs, Buffer.concat([listener, await readFile(kernel.initramfs ?? '')]), { mode: 0o444 });
      return { ...kernel, initramfs };
    };
    const specOf = async (kernel: VmKernel, name: string): Promise<VmSpec> => {
      const path = join(directory, `${name}.raw`);
      await writeFile(path, Buffer.alloc(MiB));
      return {
        instanceId: randomUUID(),
        name,
        vcpus: 1,
        memoryBytes: has,
        disks: [{ id: 'd0', path, format: 'raw', readonly: false }],
        nics: [],
        kernel,
        machine: { vsock: true },
        netns: null,
        user: testUser,
        runDir: join(directory, name),
        logDir: join(directory, `${name}-log`),
      };
    };
    const boot = async (spec: VmSpec): Promise<{ driver: QemuDriver; vm: VmHandle; guest: SerialClient }> => {
      const driver = make();
      const vm = await driver.start(spec);
      started.push(vm);
      const guest = await SerialClient.connect(driver.serialSocket(vm));
      consoles.push(guest);
      return { driver, vm, guest };
    };
    const listens = async (guest: SerialClient): Promise<void> => {
      await guest.expect('ready', 5 * minutes);
      await timed(guest, `/bin/vsock-echo ${echo}`);
    };
    /** Its listener says nothing of when it is there. */
    const reached = async (driver: QemuDriver, vm: VmHandle): Promise<Socket> => {
      let stream: Socket | null = null;
      await waitFor(
        'its listener',
        async () => (stream = await driver.vsock(vm, echo).catch(() => null)) !== null,
        minutes,
      );
      return stream as unknown as Socket;
    };
    const cidOf = (spec: VmSpec): number =>
      (JSON.parse(readFileSync(join(spec.runDir, 'vsock.json'), 'utf8')) as { cid: number }).cid;

    it('are reached, several at a time, byte for byte, by the next agent too, and end as their streams do', async () => {
      const spec = await specOf(await guestKernel(), 'one');
      const { driver, vm, guest } = await boot(spec);
      expect((await driver.probe()).capabilities).toContain('vsock');
      // Nothing has loaded a driver yet.
      await expect(driver.vsock(vm, echo)).rejects.toMatchObject({ code: 'vsock_silent' });
      await listens(guest);
      const one = await reached(driver, vm);
      const other = await make().vsock(vm, echo);
      const much = randomBytes(MiB).toString('hex');
      expect(await Promise.all([says(one, 'first'), says(other, much)])).toEqual(['first', much]);
      await expect(driver.vsock(vm, 22)).rejects.toMatchObject({ code: 'vsock_refused', permanent: true });

      // What the guest sends after the end of what it gets comes too, and its end with it.
      other.write('last');
      other.end();
      expect((await heard(other, 4)).toString()).toBe('last');
      other.resume();
      await once(other, 'close');
      one.destroy();
      await waitFor('the programs are gone', () => carriers() === 0, minutes);
    });

    it('are there again after a reset and a suspension, and end with their machine', async () => {
      const spec = await specOf(await guestKernel(), 'one');
      const { driver, vm, guest } = await boot(spec);
      await listens(guest);
      const stream = await reached(driver, vm);
      expect(await says(stream, 'before')).toBe('before');
      const closed = once(stream, 'close');
      stream.resume();
      await driver.reset(vm);
      await closed;
      await listens(guest);
      const idle = await reached(driver, vm);
      const ended = once(idle, 'close');
      idle.resume();
      await driver.suspend(vm, has);
      await ended;

      // Meanwhile another has its number.
      const squatter = await specOf(await guestKernel(), 'two');
      const { driver: its, vm: squats } = await boot(squatter);
      await its.pause(squats);
      const again = await boot({ ...spec, suspended: true });
      expect([cidOf(squatter), cidOf(spec) > testUser]).toEqual([testUser, true]);
      expect(await says(await reached(again.driver, again.vm), 'later')).toBe('later');
      await its.kill(squats);
      const last = await reached(again.driver, again.vm);
      const over = once(last, 'close');
      last.resume();
      await again.driver.kill(again.vm);
      await over;
      expect(isRunning(again.vm.process)).toBe(false);
      expect(existsSync(join(spec.runDir, 'vsock.json'))).toBe(false);
      await expect(again.driver.vsock(again.vm, echo)).rejects.toMatchObject({ code: 'not_running' });
      await waitFor('the programs are gone', () => carriers() === 0, minutes);
    });

    it('end when the guest resets itself', async () => {
      const { driver, vm, guest } = await boot(await specOf(await guestKernel(), 'one'));
      await listens(guest);
      const stop = new AbortController();
      const told: string[] = [];
      const exit = driver.waitExit(vm, stop.signal, ({ kind }) => told.push(kind)).catch(() => undefined);
      const stream = await reached(driver, vm);
      const closed = once(stream, 'close');
      stream.resume();
      guest.type('reboot -f\n');
      await closed;
      expect(told).toContain('reset');
      stop.abort();
      await exit;
    });
  });
}
