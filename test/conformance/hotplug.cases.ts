import { join } from 'node:path';
import type { Casebook } from './lab/casebook';
import { A, chain, expectError, expectTail, type VmmLab } from './lab/vmm-lab';
import type { Answer } from './lab/vmm-session';

/** Devices that come and go. */
export const hotplugCases = (book: Casebook, lab: VmmLab): void => {
  const add = (disk: Record<string, unknown>): Promise<Answer> => lab.session.put('vm.add-disk', disk);
  const remove = (id: string): Promise<Answer> => lab.session.put('vm.remove-device', { id });
  const spare = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
    path: lab.file('e.raw'),
    id: 'e0',
    image_type: 'Raw',
    ...change,
  });
  /** The disk that `run` gave the VM. */
  const given = (): Record<string, unknown> => spare({ path: join(lab.session.directory, 'd.raw'), id: 'd0' });
  const heading = 'The disk could not be added to the VM';
  const taken = (id: string): unknown[] => [
    A,
    heading,
    'Error from device manager',
    `Invalid identifier as it is not unique: ${id}`,
  ];

  book.add(41, async () => {
    expectError(await add({ path: '/x' }), lab.status('missing'), [A, heading, 'VM is not created']);
    await lab.create();
    expect(await add(spare({ id: 'c0' }))).toMatchObject({ status: 204, text: '' });
    expect((await lab.session.info()).config).toMatchObject({ disks: [{ id: 'd0' }, { id: 'c0' }] });
    await remove('c0');
    await lab.session.put('vm.boot');
    const added = await add(spare());
    expect(added.status).toBe(200);
    expect(JSON.parse(added.text)).toEqual({ id: 'e0', bdf: expect.stringMatching(/^0000:00:0\d\.0$/) });
  });
  book.add(42, async () => {
    const duplicate = [A, heading, 'Failed to validate config', 'Identifier d0 is not unique'];
    await lab.create();
    expectError(await add({ path: '/x', id: 'd0' }), lab.status('duplicate'), duplicate);
    await lab.session.put('vm.boot');
    expectError(await add({ path: '/x', id: 'd0' }), lab.status('duplicate'), duplicate);
    expect(JSON.parse((await add({ path: lab.file('f.raw'), image_type: 'Raw' })).text)).toMatchObject({
      id: expect.stringMatching(/^_disk\d+$/),
    });
  });
  book.add(43, async () => {
    await lab.run();
    expectError(await add(spare({ path: '/nonexistent' })), 500, [
      A,
      heading,
      'Error from device manager',
      ...lab.cannotOpen('/nonexistent'),
    ]);
    expect((await lab.session.info()).config).toMatchObject({ disks: [{ id: 'd0' }] });
    // A disk that the VM holds already: the words are not those of a boot.
    expectError(await add({ ...given(), id: 'again' }), 500, [
      A,
      heading,
      'Error from device manager',
      'Cannot lock images of all block devices',
      `Failed to get Write lock for disk image: ${join(lab.session.directory, 'd.raw')}`,
      'The file is already locked',
    ]);
    // Neither took a place on the bus.
    const tree = (await lab.session.info()).device_tree ?? {};
    const places = Object.values(tree).flatMap(({ pci_bdf }) => (pci_bdf === undefined ? [] : [pci_bdf]));
    const free = [...Array(31).keys()].map((n) => `0000:00:${(n + 1).toString(16).padStart(2, '0')}.0`);
    expect(JSON.parse((await add(spare())).text)).toMatchObject({ bdf: free.find((bdf) => !places.includes(bdf)) });
  });
  book.add(44, async () => {
    await lab.run({ vsock: { cid: 3, socket: join(lab.session.directory, 'vsock') } });
    expectTail(
      await lab.session.put('vm.add-net', { id: 'n', iommu: true }),
      500,
      'Cannot hotplug device behind vIOMMU',
    );
    expectTail(await lab.session.put('vm.add-vsock', { cid: 4, socket: '/t' }), 500, 'Too many virtio-vsock devices');
  });
  book.add(45, async () => {
    const refusal = 'The device could not be removed from the VM';
    expectTail(await remove('x'), lab.status('missing'), 'VM is not created');
    await lab.create();
    expectError(await remove('x'), lab.status('unknown-device'), [A, refusal, 'No device with id "x" to remove']);
    await lab.session.put('vm.boot');
    expectError(await remove('x'), lab.status('unknown-device'), [
      A,
      refusal,
      'Error from device manager',
      'Failed to find device corresponding to the given identifier: x',
    ]);
    expectTail(await remove('__rng'), 500, 'Not allowed to remove this type of device from the VM: rng');
    expectTail(await remove('__serial'), 500, 'Could not find the node in the device tree');
  });
  book.add(
    46,
    async () => {
      await lab.open({ ejectMs: null });
      await lab.run();
      expect((await remove('d0')).status).toBe(204);
      const info = await lab.session.info();
      expect(info.config['disks'] ?? []).toEqual([]);
      expect(info.device_tree).toMatchObject({ d0: expect.anything() });
      if (lab.profile().retriesRemoval) expect((await remove('d0')).status).toBe(204);
      else expectTail(await remove('d0'), 500, 'Failed to find device corresponding to the given identifier: d0');
      expect((await lab.session.put('vm.resize-disk', { id: 'd0', desired_size: 512 })).status).toBe(
        lab.status('unknown-device'),
      );
    },
    { part: 'and is not over before', opens: true },
  );
  book.add(
    46,
    async () => {
      await lab.open({ ejectMs: 200 });
      await lab.run();
      expect((await remove('d0')).status).toBe(204);
      expect((await lab.session.event('vm/device-removed')).properties).toEqual({
        id: 'd0',
        bdf: expect.stringMatching(/^0000:00:/),
      });
      expect((await lab.session.info()).device_tree?.['d0']).toBeUndefined();
      expect((await remove('d0')).status).toBe(lab.status('unknown-device'));
    },
    { needs: ['eject'], opens: true },
  );
  book.add(
    47,
    async () => {
      await lab.open({ ejectMs: null });
      await lab.run();
      await remove('d0');
      expectError(await add(given()), 500, taken('d0'));
      // Neither does another try nor time change that.
      expectError(await add(given()), 500, taken('d0'));
    },
    { part: 'a guest that never does', opens: true },
  );
  book.add(
    47,
    async () => {
      await lab.open({ ejectMs: 0 });
      await lab.run();
      await remove('d0');
      await lab.session.event('vm/device-removed');
      expect((await add(given())).status).toBe(200);
    },
    { needs: ['eject'], opens: true },
  );
  book.add(48, async () => {
    await lab.run();
    let last = await add(spare({ id: 'e', readonly: true }));
    for (let n = 0; n < 31 && last.status === 200; n++) last = await add(spare({ id: `e${n}`, readonly: true }));
    expect(last.status).toBe(500);
    expect(chain(last).slice(-2)).toEqual([
      'Failed to find an available PCI device ID',
      'Could not find an available device slot on the PCI bus',
    ]);
    const tree = (await lab.session.info()).device_tree ?? {};
    expect(Object.values(tree).filter((node) => node.pci_bdf !== undefined)).toHaveLength(31);
  });
};
