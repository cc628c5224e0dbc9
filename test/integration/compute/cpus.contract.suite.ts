import { availableParallelism } from 'node:os';
import { exec } from '../../../src/core/host/processes/exec';
import { threadsOf } from '../../../src/core/host/cpus/affinity';
import type { VmCpus, VmHandle, VmSpec, VmmDriver } from '../../../src/modules/compute/node/drivers/vmm-driver';
import type { ContractSubject } from './driver.contract.suite';

interface Started {
  driver: VmmDriver;
  handle: VmHandle;
}

const MiB = 1024 * 1024;

/** Some need CPUs 0 and 1. */
const withTwo = availableParallelism() > 1 ? it : it.skip;

/** Where machines run on their host: the same for every driver that has processes. */
export const cpusContract = (
  subject: () => ContractSubject,
  specOf: () => VmSpec,
  start: (change?: Partial<VmSpec>) => Promise<Started>,
): void => {
  describe('CPUs', () => {
    /** On which sets of CPUs its threads are, and how many of them there are. */
    const places = async (handle: VmHandle): Promise<string[]> => {
      const threads = await threadsOf(handle.process.pid);
      expect(threads.length).toBeGreaterThan(0);
      return [...new Set(threads.map(({ allowed }) => allowed.join()))].sort();
    };
    const second: VmCpus = { own: [1], process: [1] };
    const plain = { vcpus: 1, memoryBytes: 64 * MiB };

    withTwo('is on its own from its first moment, and what drifts is brought back', async () => {
      if (!subject().hasProcesses) return;
      const { driver, handle } = await start({ ...plain, cpus: second });
      expect(await places(handle)).toEqual(['1']);
      expect(await driver.confine(handle, second)).toBe(false);
      await exec('taskset', ['-apc', '0-1', String(handle.process.pid)]);
      expect(await places(handle)).toEqual(['0,1']);
      expect(await driver.confine(handle, second)).toBe(true);
      expect(await places(handle)).toEqual(['1']);
    });

    withTwo('is on those that are shared, and never on others', async () => {
      if (!subject().hasProcesses) return;
      const shared: VmCpus = { own: null, process: [0] };
      const { driver, handle } = await start({ ...plain, cpus: shared });
      expect(await places(handle)).toEqual(['0']);
      expect(await driver.confine(handle, { own: null, process: [0, 1] })).toBe(true);
      expect(await places(handle)).toEqual(['0,1']);
    });

    withTwo('goes on from a suspension on its own', async () => {
      if (!subject().hasProcesses) return;
      const spec = { ...specOf(), ...plain, cpus: second };
      const { driver, handle } = await start(spec);
      await driver.suspend(handle, spec.memoryBytes);
      const again = await start({ ...spec, suspended: true });
      expect(await places(again.handle)).toEqual(['1']);
    });

    it('has all of its memory on a node of its host, and goes on there from a suspension', async () => {
      if (!subject().hasProcesses) return;
      const nodes = [{ hostNode: 0, vcpus: 1, memoryBytes: plain.memoryBytes }];
      const spec = { ...specOf(), ...plain, cpus: { own: [0], process: [0], nodes } };
      const { driver, handle } = await start(spec);
      expect(await places(handle)).toEqual(['0']);
      expect(await driver.size(handle)).toEqual({ vcpus: 1, memoryBytes: plain.memoryBytes });
      await driver.suspend(handle, spec.memoryBytes);
      const again = await start({ ...spec, suspended: true });
      expect(await places(again.handle)).toEqual(['0']);
      expect(await driver.state(again.handle)).toBe('running');
    });

    it.each<[string, VmCpus, string]>([
      ['fewer than it has vCPUs', { own: [1], process: [1] }, 'one for each'],
      ['one twice', { own: [1, 1], process: [1] }, 'one for each'],
      ['none at all', { own: null, process: [] }, 'no CPU'],
      [
        'nodes that are uneven',
        {
          own: [0, 1],
          process: [0, 1],
          nodes: [
            { hostNode: 0, vcpus: 2, memoryBytes: 32 * MiB },
            { hostNode: 0, vcpus: 0, memoryBytes: 32 * MiB },
          ],
        },
        'evenly',
      ],
      [
        'nodes without all of its memory',
        { own: [0, 1], process: [0, 1], nodes: [{ hostNode: 0, vcpus: 2, memoryBytes: 32 * MiB }] },
        'all of its memory',
      ],
    ])('refuses %s by name', (_, cpus, words) => {
      const spec = { ...specOf(), ...plain, vcpus: 2, cpus };
      expect(() => subject().make().validate(spec)).toThrow(words);
    });

    it('fails, and leaves nothing, where the host has no such CPU', async () => {
      if (!subject().hasProcesses) return;
      await expect(start({ ...plain, cpus: { own: [4000], process: [4000] } })).rejects.toMatchObject({
        code: 'not_confined',
        detail: expect.stringContaining('4000') as string,
      });
    });
  });
};
