import { existsSync } from 'node:fs';
import type { Casebook } from './lab/casebook';
import { A, expectError, expectTail, type VmmLab } from './lab/vmm-lab';

/** The life of a VM: create, boot, pause, stop, delete. */
export const lifeCases = (book: Casebook, lab: VmmLab): void => {
  book.add(16, async () =>
    expectError(await lab.session.get('vm.info'), lab.status('missing'), [
      A,
      'The VM info is not available',
      'VM is not created',
    ]),
  );
  book.add(17, async () => {
    await lab.create({ net: [{ id: 'n0' }] });
    const info = await lab.session.info();
    expect(info).toMatchObject({
      state: 'Created',
      memory_actual_size: 536_870_912,
      config: {
        cpus: { boot_vcpus: 1, max_vcpus: 1 },
        rng: { src: '/dev/urandom' },
        serial: { mode: 'Null' },
        disks: [{ num_queues: 1, queue_size: 128 }],
        net: [{ id: 'n0', ...(lab.profile().drawsMacs && { mac: expect.stringMatching(/^2e(:[0-9a-f]{2}){5}$/) }) }],
      },
    });
    expect(info.device_tree ?? null).toBeNull();
    const { text } = await lab.session.get('vm.info');
    if (lab.profile().omitsNull) expect(text).not.toContain('null');
    else expect(text).toContain('"vsock":null');
  });
  book.add(
    17,
    async () => {
      const uuid = '01234567-0123-0123-0123-0123456789ab';
      await lab.create({ platform: { serial_number: 'ds=x', uuid } });
      const { config } = await lab.session.info();
      if (!lab.profile().omitsNull) {
        expect(config).toMatchObject({ platform: { serial_number: 'ds=x', uuid }, disks: [{ iommu: false }] });
        return;
      }
      expect(config).toMatchObject({
        cpus: { profile: 'Host' },
        rng: { pci_segment: 0 },
        console: { pci_segment: 0 },
        debug_console: { mode: 'Off', iobase: 0xe9 },
        iommu: false,
      });
      expect(config['platform']).toEqual({
        num_pci_segments: 1,
        iommu_address_width_bits: 64,
        system_serial_number: 'ds=x',
        system_uuid: uuid,
        iommufd: false,
        vfio_p2p_dma: true,
      });
      expect(Object.keys((config['disks'] as unknown as object[])[0] ?? {})).not.toContain('iommu');
    },
    { part: 'the names of its members' },
  );
  book.add(18, async () => {
    await lab.create();
    expectError(await lab.session.put('vm.create', {}), 500, [
      A,
      'The VM could not be created',
      'VM is already created',
    ]);
    await lab.session.put('vm.delete');
    await lab.create();
  });
  book.add(19, async () => {
    expect((await lab.session.put('vm.create', {})).status).toBe(204);
    expectError(await lab.session.put('vm.boot'), lab.status('validation'), [
      A,
      'The VM could not boot',
      'Failed to validate config',
      'Payload configuration is not bootable',
      'No bootitem provided: neither firmware nor kernel',
    ]);
  });
  book.add(20, async () => {
    expectError(await lab.session.put('vm.boot'), lab.status('missing'), [
      A,
      'The VM could not boot',
      'VM config is missing',
    ]);
    await lab.session.lastEvents('vmm/starting', 'vm/booting');
  });
  book.add(21, async () => {
    await lab.run();
    const info = await lab.session.info();
    expect(info.state).toBe('Running');
    expect(Object.keys(info.device_tree ?? {})).toEqual(
      expect.arrayContaining(['d0', '_virtio-pci-d0', '__rng', '__serial', '__ioapic']),
    );
    expect(info.device_tree?.['_virtio-pci-d0']).toMatchObject({
      children: ['d0'],
      pci_bdf: '0000:00:01.0',
      resources: [{ PciBar: { index: 0, base: 0xe7f8_0000, size: 0x8_0000, type_: 'Mmio32', prefetchable: false } }],
    });
    expectError(await lab.session.put('vm.boot'), 500, [A, 'The VM could not boot', 'VM is already created']);
    // The second is not announced.
    await lab.session.put('vm.pause');
    await lab.session.event('vm/paused');
    expect(lab.session.eventNames().filter((name) => name.startsWith('vm/'))).toEqual([
      'vm/booting',
      'vm/booted',
      'vm/pausing',
      'vm/paused',
    ]);
  });
  book.add(22, async () => {
    const refused = (heading: string, verb: string, component: string, states: string): string[] => [
      A,
      heading,
      verb,
      `Failed to ${component} migratable component`,
      `Invalid transition: InvalidStateTransition(${states})`,
    ];
    await lab.run();
    expect((await lab.session.put('vm.pause')).status).toBe(204);
    expect((await lab.session.info()).state).toBe('Paused');
    expectError(
      await lab.session.put('vm.pause'),
      500,
      refused('The VM could not be paused', 'Cannot pause VM', 'pause', 'Paused, Paused'),
    );
    expect((await lab.session.put('vm.resume')).status).toBe(204);
    expect((await lab.session.info()).state).toBe('Running');
    expectError(
      await lab.session.put('vm.resume'),
      500,
      refused('The VM could not resume', 'Cannot resume VM', 'resume', 'Running, Running'),
    );
    // What is refused for the VM's state is announced all the same.
    await lab.session.lastEvents('vm/pausing', 'vm/paused', 'vm/pausing', 'vm/resuming', 'vm/resumed', 'vm/resuming');
  });
  book.add(23, async () => {
    for (const created of [false, true]) {
      if (created) await lab.create();
      for (const verb of ['pause', 'resume', 'nmi', 'power-button', 'shutdown'])
        expectTail(await lab.session.put(`vm.${verb}`), 500, 'VM is not running');
      expectTail(await lab.session.put('vm.snapshot', { destination_url: 'file:///tmp' }), 500, 'VM is not running');
      expectTail(await lab.session.get('vm.counters'), 500, 'VM is not running');
      expect((await lab.session.put('vm.resize', { desired_vcpus: 1 })).status).toBe(
        created ? 204 : lab.status('missing'),
      );
    }
    // Nothing of this is announced: the next thing that is comes right after the start.
    await lab.session.put('vm.boot');
    await lab.session.event('vm/booting');
    expect(lab.session.eventNames().slice(0, 2)).toEqual(['vmm/starting', 'vm/booting']);
  });
  book.add(24, async () => {
    for (const created of [false, true]) {
      if (created) await lab.create();
      expectError(await lab.session.put('vm.reboot'), lab.status('missing'), [
        A,
        'The VM could not reboot',
        'VM is not created',
      ]);
    }
    await lab.session.lastEvents('vmm/starting', 'vm/rebooting', 'vm/rebooting');
  });
  book.add(25, async () => {
    await lab.run();
    await lab.session.put('vm.pause');
    expect((await lab.session.put('vm.shutdown')).status).toBe(204);
    expect(await lab.session.info()).toMatchObject({ state: 'Created', config: { disks: [{ id: 'd0' }] } });
    expect((await lab.session.put('vm.boot')).status).toBe(204);
    expect((await lab.session.put('vm.shutdown')).status).toBe(204);
    expectTail(await lab.session.put('vm.shutdown'), 500, 'VM is not running');
  });
  book.add(26, async () => {
    expect((await lab.session.put('vm.delete')).status).toBe(204);
    await lab.create();
    expect((await lab.session.put('vm.delete')).status).toBe(204);
    await lab.session.lastEvents('vmm/starting', 'vm/deleted');
    await lab.run();
    expect((await lab.session.put('vm.delete')).status).toBe(204);
    await lab.session.lastEvents('vm/shutdown', 'vm/deleted');
    expect((await lab.session.get('vm.info')).status).toBe(lab.status('missing'));
  });
  book.add(27, async () => {
    await lab.run();
    const answer = await lab.session.put('vmm.shutdown');
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers['content-length']).toBe('0');
    expect(await lab.session.ended).toBe(0);
    await lab.session.lastEvents('vm/shutdown', 'vm/deleted', 'vmm/shutdown');
    expect(existsSync(lab.session.socket)).toBe(false);
    expect(existsSync(`${lab.session.socket}.lock`)).toBe(lab.profile().locksSocket);
  });
};
