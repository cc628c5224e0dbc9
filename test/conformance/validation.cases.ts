import { join } from 'node:path';
import type { Casebook } from './lab/casebook';
import { A, chain, expectTail, MiB, type VmmLab } from './lab/vmm-lab';

/** Configurations that are refused when they boot, with the first reason in the VMM's order. */
export const validationCases = (book: Casebook, lab: VmmLab): void => {
  const failsWith = async (change: Record<string, unknown>, status: number, ...tail: unknown[]): Promise<void> => {
    await lab.create(change);
    const answer = await lab.session.put('vm.boot');
    expect(chain(answer).slice(0, 3)).toEqual([A, 'The VM could not boot', 'Failed to validate config']);
    expectTail(answer, status, ...tail);
    await lab.session.put('vm.delete');
  };
  const disk = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
    path: join(lab.session.directory, 'd.raw'),
    id: 'd0',
    image_type: 'Raw',
    ...change,
  });

  book.add(28, async () => {
    await failsWith(
      { payload: { firmware: '/f', kernel: '/k' } },
      lab.status('validation'),
      'Specifying a kernel is not supported when a firmware is provided',
    );
    await lab.run({ payload: { firmware: lab.file('fw', lab.subject.guest), cmdline: 'console=ttyS0' } });
    expect((await lab.session.get('vm.info')).text).not.toContain('console=ttyS0');
  });
  book.add(29, async () => {
    await failsWith({ disks: [disk(), disk()] }, lab.status('duplicate'), 'Identifier d0 is not unique');
    await failsWith({ net: [{ id: 'd0' }] }, lab.status('duplicate'), 'Identifier d0 is not unique');
    await failsWith(
      { disks: [disk({ id: '__x' })] },
      lab.status('validation'),
      `Identifier __x ${lab.profile().invalidIdentifier}`,
    );
    await failsWith(
      { devices: [{ path: '/sys/x' }, { path: '/sys/x' }] },
      lab.status('duplicate'),
      'Duplicated device path: /sys/x',
    );
  });
  book.add(30, async () => {
    await failsWith(
      { disks: [disk({ num_queues: 2 })] },
      lab.status('validation'),
      'Queue count (2) must not exceed boot vCPUs (1)',
    );
    await failsWith(
      { cpus: { boot_vcpus: 2, max_vcpus: 1 } },
      lab.status('validation'),
      'Max CPUs (1) lower than boot CPUs (2)',
    );
    await failsWith(
      {
        cpus: {
          boot_vcpus: 1,
          max_vcpus: 1,
          topology: { threads_per_core: 2, cores_per_die: 1, dies_per_package: 1, packages: 1 },
        },
      },
      lab.status('validation'),
      'Product of CPU topology parts does not match maximum vCPU',
    );
    await failsWith(
      { disks: [disk({ serial: 'x'.repeat(21) })] },
      lab.status('validation'),
      'Block device serial length (21) exceeds maximum allowed length (20)',
    );
  });
  book.add(31, async () => {
    await failsWith(
      { fs: [{ tag: 't', socket: '/s' }] },
      lab.status('validation'),
      'Using vhost-user requires using shared memory or huge pages',
    );
    await failsWith({ vsock: { cid: 2, socket: '/s' } }, lab.status('validation'), '2 is a special VSOCK CID');
    await failsWith(
      { net: [{ mtu: 1000 }] },
      lab.status('validation'),
      'Provided MTU 1000 is lower than 1280 (expected by VIRTIO specification)',
    );
    await failsWith(
      { balloon: { size: 512 * MiB } },
      lab.status('validation'),
      `Balloon size (${512 * MiB}) greater than RAM (${512 * MiB})`,
    );
    await failsWith(
      { memory: { size: MiB, shared: true, mergeable: true } },
      lab.status('validation'),
      "Invalid to set both 'mergeable' and 'shared' for memory",
    );
    await failsWith(
      { platform: { num_pci_segments: 97 } },
      lab.status('validation'),
      'Number of PCI segments (97) not in range of 1 to 96',
    );
  });
  book.add(
    30,
    async () => {
      const fails = (change: Record<string, unknown>, text: string): Promise<void> =>
        failsWith(change, lab.status('validation'), text);
      await fails({ net: [{ num_queues: 8 }] }, 'Queue count (8) must not exceed boot vCPUs (1)');
      await fails({ net: [{ queue_size: 100 }] }, 'Queue size must be a power of 2 no greater than 32768: 100');
      await fails({ disks: [disk({ queue_size: 2 })] }, 'Block queue size must be greater than 2: 2');
      await fails({ disks: [disk({ pci_segment: 1 })] }, 'Invalid PCI segment id: 1');
      await fails({ disks: [disk({ pci_device_id: 0 })] }, 'Given PCI device ID (0) is reserved');
      await fails(
        { disks: [disk({ pci_device_id: 32 })] },
        'Given PCI device ID (32) is out of the supported range of 0..32',
      );
      await fails({ platform: { iommu_segments: [2] } }, 'Invalid PCI segment id: 2');
      await fails(
        { user_devices: [{ socket: '/x' }] },
        'Using user devices requires using shared memory or huge pages',
      );
    },
    { part: 'places on the bus, and shared memory' },
  );
};
