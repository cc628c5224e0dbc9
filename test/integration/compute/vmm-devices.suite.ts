import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SerialClient } from './serial-client';
import type { Answer } from './vmm-session';
import { A, chain, expectError, expectTail, GiB, MiB, type Subject, type VmmLab } from './vmm-lab';

/** Consoles, devices that come and go, and sizes. */
export const deviceCases = (one: Subject, lab: VmmLab): void => {
  describe('consoles', () => {
    beforeEach(() => lab.open());

    it('37: no socket for the console, and create leaves its configuration', async () => {
      expectError(await lab.session.put('vm.create', { console: { mode: 'Socket' } }), 500, [
        A,
        'The VM could not be created',
        'Error creating console devices',
        'No socket option support for console device',
      ]);
      expectTail(await lab.session.put('vm.create', {}), 500, 'VM is already created');
      expect((await lab.session.put('vm.delete')).status).toBe(204);
      await lab.create();
    });
    it('38: ptys are opened anew at reboot and after shutdown', async () => {
      const pty = async (): Promise<string> =>
        ((await lab.session.info()).config as unknown as { serial: { file: string } }).serial.file;
      await lab.create({ serial: { mode: 'Pty' } });
      const first = await pty();
      expect(first).toMatch(/^\/dev\/pts\//);
      await lab.session.put('vm.boot');
      expect(await pty()).toBe(first);
      await lab.session.put('vm.reboot');
      expect(await pty()).toMatch(/^\/dev\/pts\//);
      await lab.session.put('vm.shutdown');
      await lab.session.put('vm.boot');
      expect(await pty()).toMatch(/^\/dev\/pts\//);
    });
    it('39: a file console without a file ends the process', async () => {
      expectError(await lab.session.put('vm.create', { serial: { mode: 'File' } }), 500, [
        A,
        'API response receive error',
        'receiving on a closed channel',
      ]);
      expect(await lab.session.ended).toBe(1);
    });
    it('40: a serial socket that exists', async () => {
      const answer = await lab.session.put(
        'vm.create',
        lab.basic({ serial: { mode: 'Socket', socket: lab.file('serial.sock') } }),
      );
      expectError(answer, 500, [
        A,
        'The VM could not be created',
        'Error creating console devices',
        'Error creating console device',
        'Address already in use (os error 98)',
      ]);
      expectTail(await lab.session.put('vm.create', {}), 500, 'VM is already created');
    });
    if (one.guests)
      it('a second client of the serial socket displaces the first, and a late one hears the boot since v53', async () => {
        const socket = join(lab.session.directory, 's.sock');
        await lab.run({ serial: { mode: 'Socket', socket } });
        const first = await SerialClient.connect(socket);
        if (lab.profile().buffersSerial) await first.expect('ready');
        const second = await SerialClient.connect(socket);
        second.type('x');
        await second.expect('x');
        first.type('y');
        await expect(first.expect('y', 100)).rejects.toThrow();
        second.close();
      });
  });

  describe('hotplug', () => {
    const spare = (): Record<string, unknown> => ({ path: lab.file('e.raw'), id: 'e0', image_type: 'Raw' });

    it('41, 42: add-disk with nothing, cold and hot', async () => {
      await lab.open();
      expectError(await lab.session.put('vm.add-disk', { path: '/x' }), lab.status('missing'), [
        A,
        'The disk could not be added to the VM',
        'VM is not created',
      ]);
      await lab.create();
      expect(await lab.session.put('vm.add-disk', { ...spare(), id: 'c0' })).toMatchObject({ status: 204, text: '' });
      expectTail(
        await lab.session.put('vm.add-disk', { path: '/x', id: 'd0' }),
        lab.status('duplicate'),
        'Failed to validate config',
        'Identifier d0 is not unique',
      );
      await lab.session.put('vm.remove-device', { id: 'c0' });
      await lab.session.put('vm.boot');
      const added = await lab.session.put('vm.add-disk', spare());
      expect(added.status).toBe(200);
      expect(JSON.parse(added.text)).toEqual({ id: 'e0', bdf: expect.stringMatching(/^0000:00:0\d\.0$/) });
      expectTail(
        await lab.session.put('vm.add-disk', { path: '/x', id: 'd0' }),
        lab.status('duplicate'),
        'Identifier d0 is not unique',
      );
      expect(
        JSON.parse((await lab.session.put('vm.add-disk', { path: lab.file('f.raw'), image_type: 'Raw' })).text),
      ).toMatchObject({ id: expect.stringMatching(/^_disk\d+$/) });
    });
    it('43: add-disk of a missing file changes nothing', async () => {
      await lab.open();
      await lab.run();
      const answer = await lab.session.put('vm.add-disk', { path: '/nonexistent', id: 'e0', image_type: 'Raw' });
      expect(chain(answer).slice(0, 4)).toEqual([
        A,
        'The disk could not be added to the VM',
        'Error from device manager',
        'Cannot open disk path',
      ]);
      expect((await lab.session.info()).config).toMatchObject({ disks: [{ id: 'd0' }] });
    });
    it('44: vIOMMU and a second vsock', async () => {
      await lab.open();
      await lab.run({ vsock: { cid: 3, socket: join(lab.session.directory, 'vsock') } });
      expectTail(
        await lab.session.put('vm.add-net', { id: 'n', iommu: true }),
        500,
        'Cannot hotplug device behind vIOMMU',
      );
      expectTail(await lab.session.put('vm.add-vsock', { cid: 4, socket: '/t' }), 500, 'Too many virtio-vsock devices');
    });
    it('45: remove-device refusals', async () => {
      await lab.open();
      expectTail(await lab.session.put('vm.remove-device', { id: 'x' }), lab.status('missing'), 'VM is not created');
      await lab.create();
      expectError(await lab.session.put('vm.remove-device', { id: 'x' }), lab.status('unknown-device'), [
        A,
        'The device could not be removed from the VM',
        'No device with id "x" to remove',
      ]);
      await lab.session.put('vm.boot');
      expectTail(
        await lab.session.put('vm.remove-device', { id: 'x' }),
        lab.status('unknown-device'),
        'Error from device manager',
        'Failed to find device corresponding to the given identifier: x',
      );
      expectTail(
        await lab.session.put('vm.remove-device', { id: '__rng' }),
        500,
        expect.stringMatching(/^Not allowed to remove this type of device from the VM: /),
      );
    });
    if (one.simulated)
      it('46: a removal ends when the guest lets go', async () => {
        await lab.open({ ejectMs: 200 });
        await lab.run();
        expect((await lab.session.put('vm.remove-device', { id: 'd0' })).status).toBe(204);
        expect(await lab.session.info()).toMatchObject({
          config: { disks: [] },
          device_tree: { d0: expect.anything() },
        });
        expect((await lab.session.put('vm.remove-device', { id: 'd0' })).status).toBe(
          lab.profile().retriesRemoval ? 204 : 500,
        );
        expect((await lab.session.event('vm/device-removed')).properties).toEqual({
          id: 'd0',
          bdf: expect.stringMatching(/^0000:00:/),
        });
        expect((await lab.session.info()).device_tree?.['d0']).toBeUndefined();
        expect((await lab.session.put('vm.remove-device', { id: 'd0' })).status).toBe(lab.status('unknown-device'));
      });
    if (one.simulated)
      it('47: an id is taken until the guest lets go', async () => {
        await lab.open({ ejectMs: null });
        await lab.run();
        await lab.session.put('vm.remove-device', { id: 'd0' });
        const again = { path: join(lab.session.directory, 'd.raw'), id: 'd0', image_type: 'Raw' };
        expectError(await lab.session.put('vm.add-disk', again), 500, [
          A,
          'The disk could not be added to the VM',
          'Error from device manager',
          'Invalid identifier as it is not unique: d0',
        ]);
        await lab.open({ ejectMs: 0 });
        await lab.run();
        await lab.session.put('vm.remove-device', { id: 'd0' });
        await lab.session.event('vm/device-removed');
        expect(
          (await lab.session.put('vm.add-disk', { ...again, path: join(lab.session.directory, 'd.raw') })).status,
        ).toBe(200);
      });
    it('48: a segment holds 31 devices', async () => {
      await lab.open();
      await lab.run();
      let last: Answer | null = null;
      for (let n = 0; n < 31 && (last === null || last.status === 200); n++)
        last = await lab.session.put('vm.add-disk', { ...spare(), id: `e${n}`, readonly: true });
      expectTail(
        last ?? (await lab.session.get('vm.info')),
        500,
        'Failed to find an available PCI device ID',
        'Could not find an available device slot on the PCI bus',
      );
      const tree = (await lab.session.info()).device_tree ?? {};
      expect(Object.values(tree).filter((node) => node.pci_bdf !== undefined)).toHaveLength(31);
    });
  });

  describe('resize', () => {
    // The guest of a simulation lets no vCPU go while a test looks at what is refused meanwhile.
    beforeEach(() => lab.open({ onlineMs: 60_000 }));
    const ram = (bytes: number): Promise<Answer> => lab.session.put('vm.resize', { desired_ram: bytes });
    const vcpus = (count: number): Promise<Answer> => lab.session.put('vm.resize', { desired_vcpus: count });

    it('49, 50: vCPUs', async () => {
      expectTail(await vcpus(2), lab.status('missing'), 'VM is not created');
      await lab.create({ cpus: { boot_vcpus: 2, max_vcpus: 4 } });
      expect((await vcpus(4)).status).toBe(204);
      expect((await lab.session.info()).config).toMatchObject({ cpus: { boot_vcpus: 4 } });
      await lab.session.put('vm.boot');
      expectError(await vcpus(5), 500, [
        A,
        'The VM could not be resized',
        'Error from CPU manager',
        'Requested vCPUs exceed maximum',
      ]);
      expectTail(await vcpus(0), 500, 'Requested zero vCPUs');
      expect((await vcpus(2)).status).toBe(204);
      const pending = await vcpus(3);
      expect(pending).toMatchObject({ status: 429, text: '["Too Many Requests"]' });
      expect((await vcpus(2)).status).toBe(429);
      expect((await vcpus(4)).status).toBe(204);
    });
    it('51: RAM by ACPI', async () => {
      await lab.run({ memory: { size: GiB, hotplug_size: 2 * GiB } });
      expectTail(
        await ram(GiB + MiB),
        500,
        'Memory manager error',
        'The requested hotplug memory addition is not a valid size',
      );
      expectTail(await ram(4 * GiB), 500, 'Memory manager error', 'Not enough space in the hotplug RAM region');
      for (let n = 1; n <= 8; n++) expect((await ram(GiB + n * 128 * MiB)).status).toBe(204);
      // A guest that hangs may end in a reset, and a new boot has new slots.
      if (one.guests) expectTail(await ram(GiB + 9 * 128 * MiB), 500, 'Memory manager error', 'No ACPI slot available');
      expect((await ram(GiB)).status).toBe(204);
      expect(await lab.session.info()).toMatchObject({ memory_actual_size: GiB });
    });
    it('52: RAM by virtio-mem, zones, balloon', async () => {
      await lab.run({ memory: { size: GiB, hotplug_method: 'VirtioMem', hotplug_size: GiB } });
      expectTail(
        await ram(512 * MiB),
        500,
        `Invalid resize request: desired_size = ${512 * MiB} below boot size = ${GiB}`,
      );
      expectTail(
        await lab.session.put('vm.resize', { desired_balloon: MiB }),
        500,
        "Missing virtio-balloon, can't proceed as expected",
      );
      await lab.session.put('vm.delete');
      await lab.run({ memory: { size: 0, zones: [{ id: 'z', size: GiB }] } });
      expectTail(
        await ram(2 * GiB),
        500,
        'Impossible to resize guest memory if it is backed by user defined memory regions',
      );
    });
    it('53: disks', async () => {
      const disk = (size: number, id = 'd0'): Promise<Answer> =>
        lab.session.put('vm.resize-disk', { id, desired_size: size });
      await lab.create();
      expectTail(await disk(2 * MiB), 500, 'Failed resizing a disk image');
      await lab.session.put('vm.boot');
      expect((await disk(2 * MiB, 'x')).status).toBe(lab.status('unknown-device'));
      expect(chain(await disk(1000))).toContain('Disk resize error');
      expect((await disk(2 * MiB)).status).toBe(204);
      expect(statSync(join(lab.session.directory, 'd.raw')).size).toBe(2 * MiB);
    });
    it('54: zones', async () => {
      const zone = (id: string): Promise<Answer> => lab.session.put('vm.resize-zone', { id, desired_ram: 2 * GiB });
      expectTail(await zone('z'), lab.status('missing'), 'VM is not created');
      await lab.create({ memory: { size: 0, zones: [{ id: 'z', size: GiB }] } });
      expectError(await zone('x'), 500, [A, 'The memory zone could not be resized', 'Failed resizing a memory zone']);
      expect((await zone('z')).status).toBe(204);
      expect((await lab.session.info()).config).toMatchObject({ memory: { zones: [{ size: 2 * GiB }] } });
      await lab.session.put('vm.boot');
      expectError(await zone('x'), 500, [A, 'The memory zone could not be resized', 'Failed resizing a memory zone']);
    });
  });
};
