import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { ChClient } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/ch-client';
import { unixTransport } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/ch-transport';
import { CloudHypervisorDriver } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/cloud-hypervisor.driver';
import { socketFolder } from '../../../src/modules/compute/node/drivers/common/vmm-files';
import { SimulatedBinary } from './simulated-binary';
import { testSandbox, testUser } from './test-sandbox';

const MiB = 1024 * 1024;
jest.setTimeout(30_000);

describe('cloud-hypervisor: CPUs and NUMA nodes, as the simulated one has them', () => {
  let binary: SimulatedBinary;
  let directory = '';
  beforeAll(async () => {
    binary = new SimulatedBinary();
    directory = await mkdtemp('/tmp/t-vmm-ch-cpus-');
    await writeFile(join(directory, 'disk.raw'), Buffer.alloc(4096));
  });
  afterAll(async () => {
    binary.remove();
    await rm(directory, { recursive: true, force: true });
  });

  it.each(['v50', 'v53', 'v54'] as const)('%s takes them, and says how much memory it has in all', async (version) => {
    const driver = new CloudHypervisorDriver(
      {
        binary: binary.program(version, { version }),
        payload: { firmware: binary.file('firmware'), kernel: '', cmdline: '' },
        cacheDir: directory,
        sandbox: testSandbox,
        simulated: true,
      },
      pino({ enabled: false }),
    );
    const node = { hostNode: 0, vcpus: 1, memoryBytes: 32 * MiB };
    const handle = await driver.start({
      instanceId: randomUUID(),
      name: 'x',
      vcpus: 2,
      memoryBytes: 64 * MiB,
      disks: [{ id: 'd', path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
      nics: [],
      netns: null,
      user: testUser,
      machine: { balloon: true },
      runDir: join(directory, `run-${version}`),
      logDir: join(directory, `log-${version}`),
      cpus: { own: [1, 0], process: [0, 1], nodes: [node, node] },
    });
    try {
      expect(await driver.size(handle)).toEqual({ vcpus: 2, memoryBytes: 64 * MiB });
      expect(await driver.memory(handle)).toMatchObject({ bytes: 64 * MiB });
      const info = await new ChClient(unixTransport(join(socketFolder(handle), 'api.sock'), testUser)).info();
      const zone = { size: 32 * MiB, host_numa_node: 0 };
      expect(info?.config).toMatchObject({
        cpus: {
          affinity: [
            { vcpu: 0, host_cpus: [1] },
            { vcpu: 1, host_cpus: [0] },
          ],
        },
        memory: {
          size: 0,
          zones: [
            { ...zone, id: 'node0' },
            { ...zone, id: 'node1' },
          ],
        },
        numa: [
          { guest_numa_id: 0, cpus: [0], memory_zones: ['node0'] },
          { guest_numa_id: 1, cpus: [1], memory_zones: ['node1'] },
        ],
      });
    } finally {
      await driver.kill(handle);
    }
  });
});
