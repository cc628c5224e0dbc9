import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { SimulatedDriver } from '../../../src/modules/compute/node/drivers/simulated/simulated.driver';
import { driverContract } from './driver.contract.suite';

const make = (): SimulatedDriver => new SimulatedDriver({ bootMs: 0, obeyPowerButton: true, powerOffMs: 0 });

driverContract('simulated', () => ({ make, usesResources: false, hasProcesses: false }));

describe('simulated: a guest that never lets a device go', () => {
  driverContract('simulated', () => ({
    make: () => new SimulatedDriver({ bootMs: 0, obeyPowerButton: true, powerOffMs: 0, ejectMs: null }),
    usesResources: false,
    hasProcesses: false,
    holdsDevices: true,
  }));
});

describe('simulated: many', () => {
  it('runs 500 VMs in one process', async () => {
    const directory = await mkdtemp('/tmp/t-vmm-sim-');
    const driver = make();
    try {
      const handles = await Promise.all(
        Array.from({ length: 500 }, (_, n) =>
          driver.start({
            instanceId: randomUUID(),
            name: `vm${n}`,
            vcpus: 1,
            memoryBytes: 64 * 1024 * 1024,
            disks: [],
            nics: [],
            netns: null,
            user: 1_900_000_016,
            runDir: join(directory, String(n), 'run'),
            logDir: join(directory, String(n), 'log'),
          }),
        ),
      );
      expect(await Promise.all(handles.map((handle) => driver.state(handle)))).toEqual(handles.map(() => 'running'));
      await Promise.all(handles.map((handle) => driver.kill(handle)));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }, 30_000);
});
