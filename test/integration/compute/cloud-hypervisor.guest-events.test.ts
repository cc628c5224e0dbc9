import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { chEvents } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/ch-config';
import { CloudHypervisorDriver } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/cloud-hypervisor.driver';
import type { SimulationKnobs } from '../../../src/modules/compute/node/drivers/simulated-vmm/knobs';
import type { GuestEvent } from '../../../src/modules/compute/node/drivers/guest-event';
import type { VmSpec } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { waitFor } from '../../support/wait-for';
import { SerialClient } from './serial-client';
import { SimulatedBinary } from './simulated-binary';
import { testSandbox, testUser } from './test-sandbox';

jest.setTimeout(30_000);

const quiet = pino({ enabled: false });
let binary: SimulatedBinary;
let cacheDir: string;
beforeAll(async () => {
  binary = new SimulatedBinary();
  cacheDir = await mkdtemp('/tmp/t-vmm-ch-');
});
afterAll(async () => {
  binary.remove();
  await rm(cacheDir, { recursive: true, force: true });
});

const driverOf = (knobs: Partial<SimulationKnobs> = {}, name = 'cloud-hypervisor'): CloudHypervisorDriver =>
  new CloudHypervisorDriver(
    {
      binary: binary.program(name, knobs),
      payload: { firmware: binary.file('firmware'), kernel: '', cmdline: '' },
      cacheDir,
      sandbox: testSandbox,
      simulated: true,
    },
    quiet,
  );

describe('cloud-hypervisor: what it tells of its guest', () => {
  let directory: string;
  let spec: VmSpec;
  beforeEach(async () => {
    directory = await mkdtemp('/tmp/t-vmm-ch-');
    await writeFile(join(directory, 'disk.raw'), Buffer.alloc(4096));
    spec = {
      instanceId: randomUUID(),
      name: 'x',
      vcpus: 2,
      memoryBytes: 64 * 1024 * 1024,
      disks: [{ id: 'd', path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
      nics: [],
      netns: null,
      user: testUser,
      runDir: join(directory, 'run'),
      logDir: join(directory, 'log'),
    };
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('tells of a guest that panics, also one that did while no agent was there, until it resets', async () => {
    const driver = driverOf();
    const handle = await driver.start(spec);
    const serial = await SerialClient.connect(driver.serialSocket(handle));
    const stops: AbortController[] = [];
    const listen = (by: CloudHypervisorDriver): string[] => {
      const told: string[] = [];
      const stop = new AbortController();
      stops.push(stop);
      by.waitExit(handle, stop.signal, ({ kind }) => told.push(kind)).catch(() => undefined);
      return told;
    };
    try {
      const first = listen(driver);
      await waitFor(
        'the panic',
        () => {
          serial.type('c');
          return first.length > 0;
        },
        20_000,
      );
      expect(first[0]).toBe('panic');
      expect(await driver.state(handle)).toBe('running');
      stops[0]?.abort();
      const next = listen(driverOf());
      await waitFor('the panic of before', () => next.length > 0, 20_000);
      expect(next).toEqual(['panic']);
      serial.type('r');
      await waitFor('the reset', () => next.length > 1, 20_000);
      expect(next).toEqual(['panic', 'reset']);
      // It goes on after a reset: nothing of before is told any more.
      const last = listen(driverOf());
      expect((await driver.state(handle)) === 'running' && last).toEqual([]);
    } finally {
      for (const stop of stops) stop.abort();
      serial.close();
      await driver.kill(handle);
    }
  });

  it('tells of each reset of its guest, also after one that was asked for while nobody listened', async () => {
    const driver = driverOf();
    const handle = await driver.start(spec);
    const stop = new AbortController();
    const resetItself = async (): Promise<void> => {
      const serial = await SerialClient.connect(driver.serialSocket(handle));
      await serial.expect('ready');
      serial.type('r');
      await serial.ended();
    };
    try {
      // One of its own before: it is not what was asked for.
      await resetItself();
      await driver.reset(handle);
      const told: GuestEvent['kind'][] = [];
      driver.waitExit(handle, stop.signal, ({ kind }) => told.push(kind)).catch(() => undefined);
      for (const times of [1, 2]) {
        await resetItself();
        await waitFor('the reset', () => told.length >= times, 20_000);
      }
      await driver.reset(handle);
      await resetItself();
      await waitFor('the reset', () => told.length >= 3, 20_000);
      expect(told).toEqual(['reset', 'reset', 'reset']);
    } finally {
      stop.abort();
      await driver.kill(handle);
    }
  });

  it('tells of a watchdog that restarted its guest, also while no agent was there', async () => {
    const driver = driverOf({ watchdogMs: 300 }, 'watchdog');
    const handle = await driver.start({ ...spec, machine: { watchdog: 'restart' } });
    const stops: AbortController[] = [];
    const listen = (): GuestEvent[] => {
      const told: GuestEvent[] = [];
      const stop = new AbortController();
      stops.push(stop);
      driver.waitExit(handle, stop.signal, (event) => told.push(event)).catch(() => undefined);
      return told;
    };
    let serial = await SerialClient.connect(driver.serialSocket(handle));
    try {
      const first = listen();
      await serial.expect('ready');
      serial.type('w');
      await waitFor('the watchdog', () => first.length === 2, 20_000);
      expect(first).toMatchObject([{ kind: 'watchdog' }, { kind: 'reset' }]);
      expect(await driver.state(handle)).toBe('running');
      for (const stop of stops) stop.abort();
      serial.close();
      serial = await SerialClient.connect(driver.serialSocket(handle));
      await serial.expect('ready');
      serial.type('w');
      // Its reset is told in its events, and one of before from then on.
      const events = join(spec.runDir, chEvents);
      await waitFor('the second', async () => (await readFile(events, 'utf8')).split('rebooted').length === 3, 20_000);
      // The first of the two is told with the time of before: it is on record already.
      const next = listen();
      await waitFor('both', () => next.length === 2, 20_000);
      expect(next.map(({ kind }) => kind)).toEqual(['watchdog', 'watchdog']);
      expect(next[0]).toEqual(first[0]);
    } finally {
      for (const stop of stops) stop.abort();
      serial.close();
      await driver.kill(handle);
    }
  });
});
