import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { QemuDriver } from '../../../src/modules/compute/node/drivers/qemu/qemu.driver';
import type { GuestEvent } from '../../../src/modules/compute/node/drivers/guest-event';
import type { VmHandle, VmSpec } from '../../../src/modules/compute/node/drivers/vmm-driver';
import type { VmExit } from '../../../src/modules/compute/node/drivers/vmm-exit';
import { waitFor } from '../../support/wait-for';
import { SerialClient } from './serial-client';
import { testSandbox, testUser } from './test-sandbox';
import { troubledGuestDisk } from './troubled-guest';

const minutes = 60_000;
jest.setTimeout(4 * minutes);

const binary = 'qemu-system-x86_64';
const accel = process.env['VC_STACK_TEST_ACCEL'] === 'kvm' ? 'kvm' : 'tcg';
if (spawnSync(binary, ['--version']).status !== 0) {
  describe('qemu: guests in trouble', () => it.skip('needs qemu-system-x86_64', () => undefined));
} else {
  describe('qemu: guests in trouble', () => {
    let made = '';
    let disk = '';
    let directory = '';
    let handle: VmHandle | null = null;
    let serial: SerialClient | null = null;
    let agents: AbortController[] = [];
    const make = (): QemuDriver =>
      new QemuDriver({ binary, accel, cacheDir: join(made, 'cache'), sandbox: testSandbox }, pino({ enabled: false }));
    beforeAll(async () => {
      made = await mkdtemp('/tmp/t-vmm-trouble-');
      await chmod(made, 0o755);
      disk = await troubledGuestDisk(made);
    });
    afterAll(() => rm(made, { recursive: true, force: true }));
    beforeEach(async () => {
      directory = await mkdtemp('/tmp/t-vmm-dog-');
      await copyFile(disk, join(directory, 'disk.raw'));
    });
    afterEach(async () => {
      for (const agent of agents) agent.abort();
      agents = [];
      serial?.close();
      if (handle) await make().kill(handle);
      handle = null;
      await rm(directory, { recursive: true, force: true });
    });
    const spec = (machine: NonNullable<VmSpec['machine']>): VmSpec => ({
      instanceId: randomUUID(),
      name: 'troubled',
      vcpus: 1,
      memoryBytes: 192 * 1024 * 1024,
      disks: [{ id: 'd0', path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
      nics: [],
      machine,
      netns: null,
      user: testUser,
      runDir: join(directory, 'run'),
      logDir: join(directory, 'log'),
    });
    const boot = async (machine: NonNullable<VmSpec['machine']>): Promise<{ vm: VmHandle; guest: SerialClient }> => {
      const driver = make();
      handle = await driver.start(spec(machine));
      serial = await SerialClient.connect(driver.serialSocket(handle));
      await serial.expect('ready', 2 * minutes);
      return { vm: handle, guest: serial };
    };
    /** Another agent, which knows of the machine only what lies there. */
    const watch = (vm: VmHandle): { driver: QemuDriver; told: GuestEvent[]; exit: Promise<VmExit | null> } => {
      const [driver, agent, told] = [make(), new AbortController(), [] as GuestEvent[]];
      agents.push(agent);
      const exit = driver.waitExit(vm, agent.signal, (event) => told.push(event)).catch(() => null);
      return { driver, told, exit };
    };
    const kinds = (told: readonly GuestEvent[]): string[] => told.map(({ kind }) => kind);

    it('restarts a guest whose watchdog fires, and tells of it', async () => {
      const { vm, guest } = await boot({ watchdog: 'restart' });
      const { driver, told } = watch(vm);
      guest.type('hang\n');
      await guest.expect('hangs');
      await guest.expect('ready', 2 * minutes);
      expect(kinds(told)).toEqual(['watchdog', 'reset']);
      expect(await driver.state(vm)).toBe('running');
      expect(Math.abs(Date.now() - (told[0]?.at ?? 0))).toBeLessThan(minutes);
    });

    it('restarts it while no agent is there, and the next one is told of it once', async () => {
      const { vm, guest } = await boot({ watchdog: 'restart' });
      guest.type('hang\n');
      await guest.expect('hangs');
      await guest.expect('ready', 2 * minutes);
      const first = watch(vm);
      await waitFor('what was written down', () => first.told.length === 2, minutes);
      expect(first.told).toMatchObject([
        { kind: 'watchdog', written: true },
        { kind: 'reset', written: true },
      ]);
      guest.type('hang\n');
      await guest.expect('hangs');
      await guest.expect('ready', 2 * minutes);
      expect(kinds(first.told)).toEqual(['watchdog', 'reset', 'watchdog', 'reset']);
      expect(first.told[2]?.written).toBeUndefined();
      // It is all there for one that knows nothing yet, with the same times. A monitor has one listener at a time.
      for (const agent of agents) agent.abort();
      const second = watch(vm);
      await waitFor('all of it', () => second.told.length === 4, minutes);
      expect(second.told.map(({ at }) => at)).toEqual(first.told.map(({ at }) => at));
    });

    it.each(['listens', 'is not there'])('stops it when an agent %s', async (agent) => {
      const { vm, guest } = await boot({ watchdog: 'stop' });
      const early = agent === 'listens' ? watch(vm) : null;
      guest.type('hang\n');
      await guest.expect('hangs');
      if (!early) await waitFor('it stands still', async () => (await make().state(vm)) === 'stopped', minutes);
      const { told, exit, driver } = early ?? watch(vm);
      expect(await exit).toMatchObject({ cause: 'crashed', reason: 'watchdog', detail: 'its watchdog fired' });
      expect(told).toMatchObject([{ kind: 'watchdog', stopped: true }]);
      expect(await driver.state(vm)).toBe('stopped');
      expect(await readdir(join(vm.runDir, 's'))).toEqual([]);
    });

    it('only tells of it, and the guest goes on', async () => {
      const { vm, guest } = await boot({ watchdog: 'notify' });
      const { driver, told } = watch(vm);
      guest.type('hang\n');
      await guest.expect('hangs');
      await waitFor('the watchdog', () => told.length > 0, minutes);
      expect(kinds(told)).toEqual(['watchdog']);
      expect(told[0]?.stopped).toBeUndefined();
      guest.type('hello\n');
      await guest.expect('heard hello');
      expect(await driver.state(vm)).toBe('running');
    });

    it.each(['listens', 'is not there'])('stops a guest that panics when an agent %s', async (agent) => {
      const { vm, guest } = await boot({ panic: 'stop' });
      const early = agent === 'listens' ? watch(vm) : null;
      guest.type('panic\n');
      await guest.expect('panics');
      if (!early) await waitFor('it stands still', async () => (await make().state(vm)) === 'stopped', minutes);
      const { told, exit } = early ?? watch(vm);
      expect(await exit).toMatchObject({ cause: 'crashed', reason: 'guest-panic' });
      expect(told).toMatchObject([{ kind: 'panic', stopped: true }]);
    });

    it.each(['restart', 'notify'] as const)('leaves a guest that panics to the agent: %s', async (panic) => {
      const { vm, guest } = await boot({ panic });
      guest.type('panic\n');
      await guest.expect('panics');
      const { driver, told } = watch(vm);
      await waitFor('the panic', () => told.length > 0, minutes);
      expect(kinds(told)).toEqual(['panic']);
      expect(told[0]?.stopped).toBeUndefined();
      expect(await driver.state(vm)).toBe('running');
    });
  });
}
