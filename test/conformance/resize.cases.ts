import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Casebook } from './lab/casebook';
import { A, chain, expectError, expectTail, GiB, MiB, type VmmLab } from './lab/vmm-lab';
import type { Answer } from './lab/vmm-session';

/** Header of an empty qcow2 image of `size` bytes: version 2, clusters of 64 KiB, tables in the clusters that follow. */
const qcow2 = (size: number): Buffer => {
  const cluster = 65_536;
  const image = Buffer.alloc(4 * cluster);
  image.write('QFI\xfb', 'latin1');
  image.writeUInt32BE(2, 4);
  image.writeUInt32BE(16, 20);
  image.writeBigUInt64BE(BigInt(size), 24);
  image.writeUInt32BE(1, 36);
  image.writeBigUInt64BE(BigInt(3 * cluster), 40);
  image.writeBigUInt64BE(BigInt(cluster), 48);
  image.writeUInt32BE(1, 56);
  // The refcount table's only block, and one reference to each of the four clusters.
  image.writeBigUInt64BE(BigInt(2 * cluster), cluster);
  for (let n = 0; n < 4; n++) image.writeUInt16BE(1, 2 * cluster + 2 * n);
  return image;
};

/** Sizes that change. */
export const resizeCases = (book: Casebook, lab: VmmLab): void => {
  const ram = (bytes: number): Promise<Answer> => lab.session.put('vm.resize', { desired_ram: bytes });
  const vcpus = (count: number): Promise<Answer> => lab.session.put('vm.resize', { desired_vcpus: count });
  const balloon = (bytes: number): Promise<Answer> => lab.session.put('vm.resize', { desired_balloon: bytes });
  const heading = 'The VM could not be resized';

  book.add(49, async () => {
    expectError(await vcpus(2), lab.status('missing'), [A, heading, 'VM is not created']);
    await lab.create({ cpus: { boot_vcpus: 2, max_vcpus: 4 } });
    expect((await vcpus(4)).status).toBe(204);
    expect((await ram(GiB)).status).toBe(204);
    expect((await lab.session.info()).config).toMatchObject({ cpus: { boot_vcpus: 4 }, memory: { size: GiB } });
  });
  book.add(
    50,
    async () => {
      // The guest of a simulation lets no vCPU go while the case looks at what is refused meanwhile.
      await lab.open({ onlineMs: 60_000 });
      await lab.run({ cpus: { boot_vcpus: 4, max_vcpus: 4 } });
      expectError(await vcpus(5), 500, [A, heading, 'Error from CPU manager', 'Requested vCPUs exceed maximum']);
      expectError(await vcpus(0), 500, [A, heading, 'Error from CPU manager', 'Requested zero vCPUs']);
      expect((await vcpus(4)).status).toBe(204);
      expect((await vcpus(2)).status).toBe(204);
      expect(await vcpus(3)).toMatchObject({ status: 429, text: '["Too Many Requests"]' });
      expect((await vcpus(2)).status).toBe(429);
      expect((await vcpus(4)).status).toBe(204);
    },
    { opens: true },
  );
  const grows = async (): Promise<void> => {
    await lab.run({ memory: { size: GiB, hotplug_size: 2 * GiB } });
    expectTail(
      await ram(GiB + MiB),
      500,
      'Memory manager error',
      'The requested hotplug memory addition is not a valid size',
    );
    expectTail(await ram(4 * GiB), 500, 'Memory manager error', 'Not enough space in the hotplug RAM region');
    for (let n = 1; n <= 8; n++) expect((await ram(GiB + n * 128 * MiB)).status).toBe(204);
    expectTail(await ram(GiB + 9 * 128 * MiB), 500, 'Memory manager error', 'No ACPI slot available');
    expect((await ram(GiB)).status).toBe(204);
    expect(await lab.session.info()).toMatchObject({ memory_actual_size: GiB });
  };
  // A guest that ends in a reset has all its slots again.
  book.add(51, grows, { needs: ['guest'] });
  book.add(
    51,
    async () => {
      await lab.create({ memory: { size: GiB + 1 } });
      expectError(await lab.session.put('vm.boot'), 500, [
        A,
        'The VM could not boot',
        'Memory manager error',
        'Memory size is misaligned with default page size or its hugepage size',
      ]);
      await lab.session.put('vm.delete');
      await lab.run(lab.serial());
      const serial = await lab.console();
      expect((await ram(1)).status).toBe(204);
      expect((await lab.session.info()).config).toMatchObject({ memory: { size: 1 } });
      // Taken, and fatal at the guest's next reset.
      serial.type('r');
      expect(await lab.session.ended).toBe(1);
    },
    { part: 'a size that no page fits', needs: ['guest'] },
  );
  book.add(52, async () => {
    await lab.run({ memory: { size: GiB, hotplug_method: 'VirtioMem', hotplug_size: GiB } });
    expectTail(
      await ram(512 * MiB),
      500,
      `Invalid resize request: desired_size = ${512 * MiB} below boot size = ${GiB}`,
    );
    expectTail(await balloon(MiB), 500, "Missing virtio-balloon, can't proceed as expected");
    await lab.session.put('vm.delete');
    await lab.run({ memory: { size: 0, zones: [{ id: 'z', size: GiB }] } });
    expectTail(
      await ram(2 * GiB),
      500,
      'Impossible to resize guest memory if it is backed by user defined memory regions',
    );
  });
  book.add(53, async () => {
    const disk = (size: number, id = 'd0'): Promise<Answer> =>
      lab.session.put('vm.resize-disk', { id, desired_size: size });
    const size = (name: string): number => statSync(join(lab.session.directory, name)).size;
    await lab.create({
      disks: [
        { path: lab.file('d.raw'), id: 'd0', image_type: 'Raw' },
        { path: lab.file('q.qcow2', qcow2(4 * MiB)), id: 'q0', image_type: 'Qcow2' },
      ],
    });
    expectTail(await disk(2 * MiB), 500, 'Failed resizing a disk image');
    await lab.session.put('vm.boot');
    expect((await disk(2 * MiB, 'x')).status).toBe(lab.status('unknown-device'));
    const odd = await disk(1000);
    expect(odd.status).toBe(500);
    expect(chain(odd)).toContain('Disk resize error');
    const shrunk = await disk(2 * MiB, 'q0');
    expect(shrunk.status).toBe(500);
    expect(chain(shrunk)).toContain('Disk resize error');
    expect((await disk(2 * MiB)).status).toBe(204);
    expect(size('d.raw')).toBe(2 * MiB);
    expect((await disk(MiB)).status).toBe(204);
    expect(size('d.raw')).toBe(MiB);
  });
  book.add(54, async () => {
    const zone = (id: string): Promise<Answer> => lab.session.put('vm.resize-zone', { id, desired_ram: 2 * GiB });
    const unknown = [A, 'The memory zone could not be resized', 'Failed resizing a memory zone'];
    expectTail(await zone('z'), lab.status('missing'), 'VM is not created');
    await lab.create({ memory: { size: 0, zones: [{ id: 'z', size: GiB }] } });
    expectError(await zone('x'), 500, unknown);
    expect((await zone('z')).status).toBe(204);
    expect((await lab.session.info()).config).toMatchObject({ memory: { zones: [{ size: 2 * GiB }] } });
    await lab.session.put('vm.boot');
    expectError(await zone('x'), 500, unknown);
  });
};
