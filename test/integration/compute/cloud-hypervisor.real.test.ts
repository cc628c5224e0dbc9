import { mkdtemp, rm } from 'node:fs/promises';
import { pino } from 'pino';
import { CloudHypervisorDriver } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/cloud-hypervisor.driver';
import { driverContract } from './driver.contract.suite';
import { pvhGuest } from './pvh-guest';
import { bootsGuests, realVmm } from './real-vmm';
import { SimulatedBinary } from './simulated-binary';
import { testSandbox } from './test-sandbox';

// Where KVM itself is emulated everything takes its time.
jest.setTimeout(180_000);

const real = realVmm();
if (real && bootsGuests(real)) {
  let files: SimulatedBinary;
  let cacheDir: string;
  beforeAll(async () => {
    files = new SimulatedBinary();
    cacheDir = await mkdtemp('/tmp/t-vmm-ch-');
  });
  afterAll(async () => {
    files.remove();
    await rm(cacheDir, { recursive: true, force: true });
  });
  driverContract('cloud-hypervisor', () => ({
    make: () =>
      new CloudHypervisorDriver(
        {
          binary: real.binary,
          payload: { firmware: files.file('pvh-guest', pvhGuest()), kernel: '', cmdline: '' },
          cacheDir,
          sandbox: testSandbox,
        },
        pino({ enabled: false }),
      ),
    usesResources: true,
    hasProcesses: true,
    holdsDevices: true,
    bootsKernels: true,
    // Whether a guest keeps what it knew is open where KVM is emulated (docs/cloud-hypervisor-conformance.md).
  }));
} else {
  describe('cloud-hypervisor: driver contract', () =>
    it.skip('needs cloud-hypervisor on the PATH and a KVM that runs its guests', () => undefined));
}
