import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning } from '../../../src/core/host/processes/process-identity';
import { processesNaming } from '../../../src/core/host/processes/processes-naming';
import { vmmDriverRegistry } from '../../../src/modules/compute/node/drivers/vmm-driver-registry';
import type { GuestEvent } from '../../../src/modules/compute/node/drivers/guest-event';
import type { VmHandle, VmSpec, VmmDriver } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { lockFile } from './lock-file';
import { balloonContract } from './balloon.contract.suite';
import { diskContract } from './disk.contract.suite';
import { cpusContract } from './cpus.contract.suite';
import { hardwareContract } from './hardware.contract.suite';
import { coreDumpContract } from './core-dump.contract.suite';
import { kernelContract } from './kernel.contract.suite';
import { nicContract } from './nic.contract.suite';
import { waitFor } from '../../support/wait-for';
import { resizeContract } from './resize.contract.suite';
import { vsockContract } from './vsock.contract.suite';
import { suspendContract } from './suspend.contract.suite';
import { SerialClient } from './serial-client';
import { serialGuestDisk } from './serial-guest';
import { testUser } from './test-sandbox';

export interface ContractSubject {
  /** A new driver, as after a restart of the agent; every driver of one subject sees the same VMs. */
  make: () => VmmDriver;
  /** Opens disks and taps, so that missing and locked ones are failures. */
  usesResources: boolean;
  /** Each VM is a process of its own. */
  hasProcesses: boolean;
  /** Its guest has no operating system, and lets a device go only when it is reset. */
  holdsDevices?: boolean;
  /** A guest that was suspended goes on with what it knew. */
  keepsMemory?: boolean;
  /** Kernels of Linux really boot on it here. */
  bootsKernels?: boolean;
  cleanUp?: () => Promise<void>;
}

/** What every driver has a method for. */
const everyDriverCan =
  'serial power-button reset pause nmi suspend nic-hotplug disk-hotplug cpu-hotplug memory-hotplug';
const never = new AbortController().signal;
const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** What holds for every VMM driver. `subject` is made once per file. */
export const driverContract = (name: string, subject: () => ContractSubject): void => {
  describe(`${name}: driver contract`, () => {
    let directory: string;
    let started: { driver: VmmDriver; handle: VmHandle }[] = [];
    const clients: SerialClient[] = [];

    const specOf = (change: Partial<VmSpec> = {}): VmSpec => {
      const instanceId = randomUUID();
      return {
        instanceId,
        name: 'contract',
        vcpus: 1,
        memoryBytes: 64 * 1024 * 1024,
        disks: [{ id: randomUUID(), path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
        nics: [],
        netns: null,
        user: testUser,
        runDir: join(directory, 'run'),
        logDir: join(directory, 'log'),
        ...change,
      };
    };
    it('is in the registry, and says that it can do what its entry declares, and no more', async () => {
      const driver = subject().make();
      const entry = vmmDriverRegistry.find((one) => one.kind === driver.kind);
      const { kind, usable, capabilities } = await driver.probe();
      expect([kind, usable]).toEqual([entry?.kind, true]);
      expect(capabilities.filter((one) => !(entry?.capabilities as readonly string[]).includes(one))).toEqual([]);
      expect(capabilities).toEqual(expect.arrayContaining(everyDriverCan.split(' ')));
    });

    const start = async (
      change: Partial<VmSpec> = {},
    ): Promise<{ driver: VmmDriver; handle: VmHandle; serial: SerialClient }> => {
      const driver = subject().make();
      const handle = await driver.start(specOf(change));
      started.push({ driver, handle });
      const serial = await SerialClient.connect(driver.serialSocket(handle));
      clients.push(serial);
      return { driver, handle, serial };
    };
    /** Types a key that the guest echoes: it runs and listens. */
    const awaitGuest = async (serial: SerialClient, timeoutMs = 20_000): Promise<void> => {
      const end = Date.now() + timeoutMs;
      for (;;) {
        serial.type('x');
        const heard = await serial.expect('x', 500).then(
          () => true,
          () => false,
        );
        if (heard) return;
        if (Date.now() > end) throw new Error('the guest does not answer');
      }
    };

    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-');
      await writeFile(join(directory, 'disk.raw'), serialGuestDisk());
    });
    afterEach(async () => {
      for (const client of clients.splice(0)) client.close();
      // The last one first: it may be the same instance's as one before, in the same places.
      for (const { driver, handle } of started.splice(0).reverse()) await driver.kill(handle);
      await rm(directory, { recursive: true, force: true });
    });
    afterAll(async () => subject().cleanUp?.());

    it('starts a VM that runs, with a serial console', async () => {
      const { driver, handle, serial } = await start();
      expect(await driver.state(handle)).toBe('running');
      await awaitGuest(serial);
      expect(handle.driver).toBe(driver.kind);
      if (subject().hasProcesses) expect(isRunning(handle.process)).toBe(true);
    });

    it('has a screen where it says so, and otherwise refuses it and says why', async () => {
      const { driver, handle } = await start();
      if ((await driver.probe()).capabilities.includes('vnc')) {
        const screen = await driver.screen(handle);
        const said = await new Promise<Buffer>((resolve) => screen.once('data', resolve));
        screen.destroy();
        expect(said.toString()).toMatch(/^RFB \d{3}\.\d{3}\n$/);
        expect((await driver.screenshot(handle)).subarray(1, 4).toString()).toBe('PNG');
        return;
      }
      const refusal = { name: 'VerbFailure', code: 'no_screen', permanent: true };
      await expect(driver.screen(handle)).rejects.toMatchObject(refusal);
      await expect(driver.screenshot(handle)).rejects.toMatchObject(refusal);
    });

    it('kills at once, again and again, and leaves no socket', async () => {
      const { driver, handle } = await start();
      const exit = driver.waitExit(handle, never);
      await driver.kill(handle);
      await driver.kill(handle);
      expect(await driver.state(handle)).toBe('stopped');
      expect(await exit).toMatchObject({ cause: 'forced' });
      expect((await readdir(handle.runDir, { recursive: true })).filter((file) => file.endsWith('.sock'))).toEqual([]);
      if (subject().hasProcesses) expect(isRunning(handle.process)).toBe(false);
    });

    it('tells a guest that powered itself off', async () => {
      const { driver, handle, serial } = await start();
      const exit = driver.waitExit(handle, never);
      await awaitGuest(serial);
      serial.type('p');
      expect(await exit).toMatchObject({ cause: 'guest', reason: 'guest-power-off' });
      expect(await driver.state(handle)).toBe('stopped');
    });

    it('tells a guest that powered itself off while no agent was there', async () => {
      const { handle, serial } = await start();
      await awaitGuest(serial);
      serial.type('p');
      const watcher = subject().make();
      while ((await watcher.state(handle)) !== 'stopped') await delay(20);
      expect(await subject().make().waitExit(handle, never)).toMatchObject({ cause: 'guest' });
    });

    it('presses the power button of a guest that obeys', async () => {
      const { driver, handle, serial } = await start();
      await awaitGuest(serial);
      const exit = driver.waitExit(handle, never);
      await driver.powerButton(handle);
      expect(await exit).toMatchObject({ cause: 'operator' });
    });

    it('presses the power button of a guest that ignores it: it runs on, until it is killed', async () => {
      const { driver, handle, serial } = await start();
      await awaitGuest(serial);
      serial.type('i');
      await serial.expect('i');
      await driver.powerButton(handle);
      await serial.expect('button');
      await awaitGuest(serial);
      expect(await driver.state(handle)).toBe('running');
      await driver.kill(handle);
      expect(await driver.waitExit(handle, never)).toMatchObject({ cause: 'forced' });
    });

    it('resets: the same VM boots anew, and forgets what its guest knew', async () => {
      const { driver, handle, serial } = await start();
      await awaitGuest(serial);
      serial.type('i');
      await serial.expect('i');
      await driver.reset(handle);
      expect(await driver.state(handle)).toBe('running');
      // The reset may have cut the console: its owner connects again.
      serial.close();
      const again = await SerialClient.connect(driver.serialSocket(handle));
      clients.push(again);
      await awaitGuest(again);
      const exit = driver.waitExit(handle, never);
      await driver.powerButton(handle);
      expect(await exit).toMatchObject({ cause: 'operator' });
    });

    it('tells of a guest that resets itself, and not of a reset that was asked for', async () => {
      const { driver, handle, serial } = await start();
      await awaitGuest(serial);
      const told: GuestEvent[] = [];
      const stop = new AbortController();
      const exit = driver.waitExit(handle, stop.signal, (event) => told.push(event));
      await driver.reset(handle);
      serial.close();
      const again = await SerialClient.connect(driver.serialSocket(handle));
      clients.push(again);
      await awaitGuest(again);
      expect(told).toEqual([]);
      if (driver.kind !== 'simulated') {
        // Asked again, but not while it comes up: a guest that hears it then begins anew, and anew.
        let typed = Number.NEGATIVE_INFINITY;
        await waitFor(
          'the reset',
          () => {
            if (Date.now() - typed > 1000) {
              again.type('r');
              typed = Date.now();
            }
            return told.length > 0;
          },
          20_000,
        );
      }
      expect(told[0]?.kind).toBe(driver.kind === 'simulated' ? undefined : 'reset');
      expect(await driver.state(handle)).toBe('running');
      stop.abort();
      await expect(exit).rejects.toThrow();
    });

    it('pauses: the guest stands still, and goes on where it stood', async () => {
      const { driver, handle, serial } = await start();
      await awaitGuest(serial);
      await driver.pause(handle);
      expect(await driver.state(handle)).toBe('paused');
      serial.type('z');
      await expect(serial.expect('z', 300)).rejects.toThrow();
      await driver.resume(handle);
      expect(await driver.state(handle)).toBe('running');
      await serial.expect('z');
      await awaitGuest(serial);
    });

    it('pauses and resumes again and again, whoever did it first', async () => {
      const { driver, handle, serial } = await start();
      await awaitGuest(serial);
      await driver.pause(handle);
      await driver.pause(handle);
      const other = subject().make();
      expect(await other.state(handle)).toBe('paused');
      await other.pause(handle);
      await other.resume(handle);
      await driver.resume(handle);
      expect(await driver.state(handle)).toBe('running');
      await awaitGuest(serial);
    });

    suspendContract(subject, specOf, start, awaitGuest);
    coreDumpContract(subject, specOf, start, awaitGuest);
    resizeContract(subject, specOf, start, awaitGuest);
    hardwareContract(subject, specOf, start, awaitGuest);
    balloonContract(subject, specOf, start, awaitGuest);
    cpusContract(subject, specOf, start);
    vsockContract(subject, specOf, start, awaitGuest);

    it('refuses to pause, to resume and to interrupt one that has ended', async () => {
      const { driver, handle } = await start();
      await driver.kill(handle);
      for (const verb of ['pause', 'resume', 'nmi'] as const)
        await expect(driver[verb](handle)).rejects.toMatchObject({ code: 'not_running', permanent: true });
    });

    it('interrupts a guest, which runs on', async () => {
      const { driver, handle, serial } = await start();
      await awaitGuest(serial);
      await driver.nmi(handle);
      expect(await driver.state(handle)).toBe('running');
    });

    it('adopts a running VM in a new driver', async () => {
      const { handle, serial } = await start();
      await awaitGuest(serial);
      const adopted = JSON.parse(JSON.stringify(handle)) as VmHandle;
      const driver = subject().make();
      expect(await driver.state(adopted)).toBe('running');
      const exit = driver.waitExit(adopted, never);
      await driver.powerButton(adopted);
      expect(await exit).toMatchObject({ cause: 'operator' });
    });

    it('stops waiting when it is told to', async () => {
      const { driver, handle } = await start();
      const stop = new AbortController();
      const exit = driver.waitExit(handle, stop.signal);
      stop.abort();
      await expect(exit).rejects.toThrow();
      expect(await driver.state(handle)).toBe('running');
    });

    it('starts over stale sockets and again after a kill', async () => {
      const { driver, handle } = await start();
      await driver.kill(handle);
      started = [];
      const stale = createServer();
      await new Promise<void>((resolve) => stale.listen(driver.serialSocket(handle), resolve));
      stale.unref();
      const again = await start();
      await awaitGuest(again.serial);
      stale.close();
    });

    it('refuses what it cannot run, before anything is touched', async () => {
      const driver = subject().make();
      const bad: Partial<VmSpec>[] = [
        { vcpus: 0 },
        { memoryBytes: 1 },
        { runDir: `/tmp/${'x'.repeat(100)}` },
        { instanceId: '../x' },
        { nics: [{ id: 'n', tap: 'a/b', mac: '52:54:00:00:00:01', mtu: 1500 }] },
      ];
      for (const change of bad) {
        expect(() => driver.validate(specOf(change))).toThrow(expect.objectContaining({ permanent: true }));
        await expect(driver.start(specOf(change))).rejects.toMatchObject({ permanent: true });
      }
      expect(await exists(join(directory, 'run'))).toBe(false);
    });

    it('crashed: a VMM that is killed from outside', async () => {
      if (!subject().hasProcesses) return;
      const { driver, handle } = await start();
      const exit = driver.waitExit(handle, never);
      process.kill(handle.process.pid, 'SIGKILL');
      expect(await exit).toMatchObject({ cause: 'crashed', reason: 'killed', code: null, signal: 'SIGKILL' });
      expect(await driver.state(handle)).toBe('stopped');
      await driver.kill(handle);
      expect((await readdir(handle.runDir, { recursive: true })).filter((file) => file.endsWith('.sock'))).toEqual([]);
    });

    it('crashed while no agent was there: the next one knows how', async () => {
      if (!subject().hasProcesses) return;
      const { handle } = await start();
      process.kill(handle.process.pid, 'SIGKILL');
      const next = subject().make();
      while ((await next.state(handle)) !== 'stopped') await delay(20);
      expect(await subject().make().waitExit(handle, never)).toMatchObject({
        cause: 'crashed',
        reason: 'killed',
        signal: 'SIGKILL',
      });
      await next.kill(handle);
      // Who waited for it is gone as well.
      expect(await processesNaming(handle.runDir)).toEqual([]);
    });

    it('never signals a process of the same pid that is another', async () => {
      const bystander = spawn('sleep', ['60'], { stdio: 'ignore' });
      try {
        const driver = subject().make();
        const handle: VmHandle = {
          driver: driver.kind,
          instanceId: randomUUID(),
          process: { pid: bystander.pid ?? 0, startTime: '1' },
          user: testUser,
          runDir: join(directory, 'run'),
          logDir: join(directory, 'log'),
          startedAt: new Date().toISOString(),
        };
        expect(await driver.state(handle)).toBe('stopped');
        await driver.kill(handle);
        await expect(driver.powerButton(handle)).rejects.toMatchObject({ code: 'not_running' });
        expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null]);
        process.kill(bystander.pid ?? 0, 0);
      } finally {
        bystander.kill('SIGKILL');
      }
    });

    nicContract(subject, start, awaitGuest);
    diskContract(subject, start, awaitGuest, () => ({ disks: specOf().disks, directory }));

    const failure = async (change: Partial<VmSpec>, code: string): Promise<void> => {
      const driver = subject().make();
      await expect(driver.start(specOf(change))).rejects.toMatchObject({ name: 'VerbFailure', code });
      expect([await exists(join(directory, 'run')), await exists(join(directory, 'log'))]).toEqual([false, false]);
    };
    kernelContract(subject, start, failure);
    it('leaves nothing when a disk is missing', async () => {
      if (!subject().usesResources) return;
      await failure(
        { disks: [{ id: 'd0', path: join(directory, 'none.raw'), format: 'raw', readonly: false }] },
        'disk_missing',
      );
    });
    it('leaves nothing when a disk is locked', async () => {
      if (!subject().usesResources) return;
      const { driver, handle } = await start();
      const other = join(directory, 'other');
      await expect(
        subject()
          .make()
          .start(specOf({ runDir: join(other, 'run'), logDir: join(other, 'log') })),
      ).rejects.toMatchObject({ code: 'disk_locked', permanent: false });
      expect(await exists(join(other, 'run'))).toBe(false);
      expect(await driver.state(handle)).toBe('running');
      await driver.kill(handle);
      const release = await lockFile(join(directory, 'disk.raw'));
      try {
        await expect(
          driver.start(specOf({ runDir: join(other, 'run'), logDir: join(other, 'log') })),
        ).rejects.toMatchObject({ code: 'disk_locked' });
      } finally {
        await release();
      }
      expect(await exists(join(other, 'run'))).toBe(false);
    });
    it('leaves nothing when a tap or a namespace is missing', async () => {
      if (!subject().usesResources) return;
      await failure({ nics: [{ id: 'n0', tap: 't-vmm-none', mac: '52:54:00:00:00:01', mtu: 1500 }] }, 'tap_missing');
      await failure(
        { nics: [{ id: 'n0', tap: 't-vmm-none', mac: '52:54:00:00:00:01', mtu: 1500 }], netns: 't-vmm-none' },
        'tap_missing',
      );
      await failure({ netns: 't-vmm-none' }, 'netns_missing');
    });
  });
};
