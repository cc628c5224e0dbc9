import { readFile } from 'node:fs/promises';
import type { VmHandle, VmSpec, VmmDriver } from '../../../src/modules/compute/node/drivers/vmm-driver';
import type { ContractSubject } from './driver.contract.suite';
import type { SerialClient } from './serial-client';

interface Started {
  driver: VmmDriver;
  handle: VmHandle;
  serial: SerialClient;
}

const MiB = 1024 * 1024;
const never = new AbortController().signal;

/** Machines whose memory or vCPUs are of a kind: the same for every driver. */
export const hardwareContract = (
  subject: () => ContractSubject,
  specOf: () => VmSpec,
  start: (change?: Partial<VmSpec>) => Promise<Started>,
  awaitGuest: (serial: SerialClient) => Promise<void>,
): void => {
  describe('hardware', () => {
    it('has shared memory, grows with it, and goes on from a suspension with it', async () => {
      const size = { vcpus: 1, memoryBytes: 64 * MiB };
      const max = { vcpus: 2, memoryBytes: 192 * MiB };
      const spec: VmSpec = { ...specOf(), ...size, max, hardware: { sharedMemory: true } };
      const { driver, handle, serial } = await start(spec);
      await awaitGuest(serial);
      const shared = (maps: string): boolean => /^\S+ rw-s .*memfd:memory-backend-memfd/m.test(maps);
      // Of a simulated one no guest has any.
      if (driver.kind === 'qemu') expect(shared(await readFile(`/proc/${handle.process.pid}/maps`, 'utf8'))).toBe(true);
      await driver.setVcpus(handle, 2, 1_000, never);
      await driver.suspend(handle, spec.memoryBytes);
      const again = await start({ ...spec, vcpus: 2, suspended: true });
      await awaitGuest(again.serial);
      expect(await again.driver.size(again.handle)).toEqual({ vcpus: 2, memoryBytes: 64 * MiB });
    });

    it('is refused by name where the VMM cannot make it, and nothing is left', async () => {
      const driver = subject().make();
      const { capabilities } = await driver.probe();
      const wanted = [
        ['huge-pages', { pageSize: '1GiB' }, 'memory of huge pages'],
        ['cpu-models', { cpuModel: 'EPYC-v1' }, 'models of CPUs'],
      ] as const;
      for (const [capability, hardware, words] of wanted)
        if (!capabilities.includes(capability))
          await expect(driver.start({ ...specOf(), hardware })).rejects.toMatchObject({
            code: 'no_such_machine',
            permanent: true,
            message: expect.stringContaining(words) as string,
          });
    });
  });
};
