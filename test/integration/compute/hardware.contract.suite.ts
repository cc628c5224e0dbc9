import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { VmHandle, VmSpec, VmmDriver } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { freeHugePages, keepHugePages, noHugePagesHere } from '../../support/huge-pages';
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

    const huge = noHugePagesHere === null ? it : it.skip;
    huge(
      `has memory of huge pages, as many as it has memory, and gives them back${noHugePagesHere === null ? '' : ` (skipped: ${noHugePagesHere})`}`,
      async () => {
        // 64 MiB are 32 of them.
        const giveBack = await keepHugePages(33);
        try {
          const free = freeHugePages();
          const spec: VmSpec = { ...specOf(), hardware: { pageSize: '2MiB' } };
          const { driver, handle, serial } = await start(spec);
          await awaitGuest(serial);
          const real = driver.kind === 'qemu';
          if (real) expect(freeHugePages()).toBe(free - 32);
          if (real)
            expect(await readFile(`/proc/${handle.process.pid}/smaps`, 'utf8')).toMatch(/^KernelPageSize: +2048 kB/m);
          // What is missing is told before anything is made.
          if (real) {
            const second = { ...specOf(), runDir: `${spec.runDir}-2`, logDir: `${spec.logDir}-2` };
            await expect(
              subject()
                .make()
                .start({ ...second, hardware: { pageSize: '2MiB' } }),
            ).rejects.toMatchObject({
              code: 'no_huge_pages',
              permanent: false,
              detail: '32 are needed and 1 are free',
            });
            expect(await readdir(dirname(spec.runDir))).not.toEqual(expect.arrayContaining(['run-2']));
          }
          await driver.suspend(handle, spec.memoryBytes);
          expect(freeHugePages()).toBe(free);
          if (real) {
            // Both see that there are enough.
            const both = await Promise.allSettled(
              ['a', 'b'].map((name) =>
                start({
                  ...spec,
                  instanceId: randomUUID(),
                  runDir: `${spec.runDir}-${name}`,
                  logDir: `${spec.logDir}-${name}`,
                }),
              ),
            );
            const refused = both.filter((one) => one.status === 'rejected');
            expect(refused).toMatchObject([{ reason: { code: 'no_huge_pages', permanent: false } }]);
            for (const one of both) if (one.status === 'fulfilled') await driver.kill(one.value.handle);
          }
          const again = await start({ ...spec, suspended: true });
          await awaitGuest(again.serial);
          if (real) expect(freeHugePages()).toBe(free - 32);
          await again.driver.kill(again.handle);
          expect(freeHugePages()).toBe(free);
        } finally {
          await giveBack();
        }
      },
    );

    it('takes no memory that huge pages cannot make up, and none that grows', async () => {
      const driver = subject().make();
      const hardware = { pageSize: '2MiB' } as const;
      const refusal = { code: 'invalid_spec', permanent: true };
      for (const change of [
        { memoryBytes: 65 * MiB, hardware },
        { memoryBytes: 64 * MiB, max: { vcpus: 1, memoryBytes: 192 * MiB }, hardware },
      ])
        await expect(driver.start({ ...specOf(), ...change })).rejects.toMatchObject(refusal);
    });

    it('has vCPUs of the model that is asked for where its VMM gives one, also those that come later', async () => {
      const { capabilities, cpuModels = [] } = await subject().make().probe();
      if (!capabilities.includes('cpu-models')) return expect(cpuModels).toEqual([]);
      expect(cpuModels).toContain('Nehalem');
      const spec: VmSpec = {
        ...specOf(),
        max: { vcpus: 2, memoryBytes: 64 * MiB },
        hardware: { cpuModel: 'Nehalem' },
      };
      const { driver, handle, serial } = await start(spec);
      await awaitGuest(serial);
      await driver.setVcpus(handle, 2, 1_000, never);
      await driver.suspend(handle, spec.memoryBytes);
      const again = await start({ ...spec, vcpus: 2, suspended: true });
      await awaitGuest(again.serial);
      for (const cpuModel of ['Nehalem-v99', 'host,+svm'])
        await expect(driver.start({ ...specOf(), hardware: { cpuModel } })).rejects.toMatchObject({
          code: 'no_such_machine',
          message: `The instance asks for the CPU model ${cpuModel}, which QEMU cannot give whole on this host.`,
        });
    });

    it('is refused by name where the VMM cannot make it, and nothing is left', async () => {
      const driver = subject().make();
      const { capabilities } = await driver.probe();
      const wanted = [['cpu-models', { cpuModel: 'EPYC-v1' }, 'models of CPUs']] as const;
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
