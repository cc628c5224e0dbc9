import { join } from 'node:path';
import type { Casebook } from './lab/casebook';
import { A, chain, expectError, expectTail, MiB, type VmmLab } from './lab/vmm-lab';

/** What fails when a VM boots, and what is left of it then. */
export const bootFailureCases = (book: Casebook, lab: VmmLab): void => {
  book.add(32, async () => {
    await lab.create({ disks: [{ path: '/nonexistent.raw', id: 'd0', image_type: 'Raw' }] });
    const answer = await lab.session.put('vm.boot');
    expectError(answer, 500, [
      A,
      'The VM could not boot',
      'Error from device manager',
      ...lab.cannotOpen('/nonexistent.raw'),
    ]);
    expect((await lab.session.info()).config['disks'] ?? null).toBeNull();
    expect((await lab.session.put('vm.boot')).status).toBe(204);
  });
  book.add(
    32,
    async () => {
      const lost = async (change: Record<string, unknown>, ...reasons: string[]): Promise<string[]> => {
        await lab.create(change);
        expectError(await lab.session.put('vm.boot'), 500, [A, 'The VM could not boot', ...reasons]);
        const { config } = await lab.session.info();
        await lab.session.put('vm.delete');
        return Object.keys(change).filter((name) => (config[name] ?? null) === null);
      };
      const gone = 'No such file or directory (os error 2)';
      const devices = 'Error from device manager';
      const disks = [{ path: join(lab.session.directory, 'd.raw'), id: 'd0', image_type: 'Raw' }];
      expect(
        await lost({ disks, pmem: [{ file: '/nonexistent' }] }, devices, 'Cannot open persistent memory file', gone),
      ).toEqual(['pmem']);
      expect(
        await lost({ disks, rng: { src: '/nonexistent' } }, devices, 'Cannot create virtio-rng device', gone),
      ).toEqual([]);
      expect(
        await lost({ disks: [{ id: 'd0' }] }, devices, 'No disk path was specified when one was expected'),
      ).toEqual(['disks']);
      expect(
        await lost({ disks, numa: [{ guest_numa_id: 0, memory_zones: ['z'] }] }, 'Invalid NUMA configuration'),
      ).toEqual([]);
      const twice = { id: 'z', size: 64 * MiB };
      expect(
        await lost(
          { disks, memory: { size: 0, zones: [twice, twice] } },
          'Memory manager error',
          'Memory zone identifier is not unique',
        ),
      ).toEqual([]);
    },
    { part: 'other lists, and what loses none' },
  );
  book.add(33, async () => {
    await lab.create({ payload: { kernel: '/nonexistent' } });
    expectError(await lab.session.put('vm.boot'), 500, [
      A,
      'The VM could not boot',
      'Cannot open kernel file',
      'No such file or directory (os error 2)',
    ]);
    expect(await lab.session.info()).toMatchObject({ state: 'Created', device_tree: expect.anything() });
    expectTail(await lab.session.put('vm.boot'), 500, 'VM is already created');
    expect((await lab.session.put('vm.shutdown')).status).toBe(204);
  });
  book.add(34, async () => {
    await lab.create({ payload: { firmware: '/nonexistent' } });
    expect(chain(await lab.session.put('vm.boot'))).toContain('Error manipulating firmware file');
    expectTail(await lab.session.put('vm.boot'), 500, 'VM is already created');
    await lab.session.put('vm.delete');
    await lab.create({ payload: { kernel: lab.file('kernel', lab.subject.guest), initramfs: '/nonexistent' } });
    expect(chain(await lab.session.put('vm.boot'))).toContain('Cannot open initramfs file');
    expect((await lab.session.info()).device_tree ?? null).toBeNull();
  });
  book.add(35, async () => {
    await lab.run();
    const shared = join(lab.session.directory, 'd.raw');
    const first = lab.session;
    const second = await lab.open();
    const config = {
      payload: { kernel: join(first.directory, 'kernel') },
      console: { mode: 'Off' },
      disks: [{ path: shared, id: 'd0', image_type: 'Raw' }],
    };
    await second.put('vm.create', config);
    const answer = await second.put('vm.boot');
    expectError(answer, 500, [
      A,
      'The VM could not boot',
      'Error locking disk images: Another instance likely holds a lock',
      'Cannot lock images of all block devices',
      `Failed to get Write lock for disk image: ${shared}`,
      'The file is already locked',
    ]);
    expectTail(await second.put('vm.boot'), 500, 'VM is already created');
    await second.put('vm.delete');
    await first.put('vm.delete');
    const readers = { ...config, disks: [{ ...config.disks[0], readonly: true }] };
    for (const one of [first, second]) {
      expect((await one.put('vm.create', readers)).status).toBe(204);
      expect((await one.put('vm.boot')).status).toBe(204);
    }
  });
  book.add(36, async () => {
    await lab.create({ disks: [{ path: lab.file('d.raw'), id: 'd0', image_type: 'Qcow2' }] });
    expectError(await lab.session.put('vm.boot'), 500, [
      A,
      'The VM could not boot',
      'Error from device manager',
      'Disk image type does not match expected type: specified = qcow2, detected = raw',
    ]);
    await lab.session.put('vm.delete');
    await lab.run({ disks: [{ path: join(lab.session.directory, 'd.raw'), id: 'd0' }] });
    expect((await lab.session.info()).config).toMatchObject({ disks: [{ image_type: 'Raw' }] });
  });
};
