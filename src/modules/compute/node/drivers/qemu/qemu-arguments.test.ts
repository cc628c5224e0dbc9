import type { VmSpec } from '../vmm-driver';
import { qemuArguments } from './qemu-arguments';

const spec: VmSpec = {
  instanceId: '0b8e9d1a-7f7b-4d0e-9a55-2f60c1aabbcc',
  name: 'a,b',
  vcpus: 3,
  memoryBytes: 256 * 1024 * 1024,
  disks: [{ id: '11111111-2222-3333-4444-555555555555', path: '/pool/a,b.raw', format: 'raw', readonly: true }],
  nics: [{ id: 'n1', tap: 'tap1', mac: '52:54:00:00:00:01', mtu: 1450 }],
  netns: 'ns',
  user: 1_000_000,
  runDir: '/run/a,b',
  logDir: '/log',
};
const valuesOf = (args: string[], option: string): string[] =>
  args.flatMap((arg, n) => (args[n - 1] === option ? [arg] : []));

describe('qemuArguments', () => {
  it('doubles commas where QEMU splits at them, so that no path becomes an option', () => {
    const args = qemuArguments(spec, 'tcg');
    expect(valuesOf(args, '-chardev').every((value) => value.includes('path=/run/a,,b/'))).toBe(true);
  });
  it('names the machine so that agents of guests look for metadata, and know the instance again', () => {
    expect(valuesOf(qemuArguments(spec, 'kvm'), '-smbios')).toEqual([
      'type=1,manufacturer=VC Stack,product=OpenStack Compute,serial=0b8e9d1a-7f7b-4d0e-9a55-2f60c1aabbcc,uuid=0b8e9d1a-7f7b-4d0e-9a55-2f60c1aabbcc',
    ]);
  });
  it('hands over a kernel, its initramfs and its command line as they are', () => {
    const kernel = { path: '/pool/a,b.kernel', initramfs: '/pool/a,b.initramfs', commandLine: 'a="b, c" -append x' };
    const args = qemuArguments({ ...spec, kernel }, 'tcg');
    expect([valuesOf(args, '-kernel'), valuesOf(args, '-initrd'), valuesOf(args, '-append')]).toEqual([
      ['/pool/a,b.kernel'],
      ['/pool/a,b.initramfs'],
      ['a="b, c" -append x'],
    ]);
    const bare = qemuArguments({ ...spec, kernel: { ...kernel, initramfs: null, commandLine: '' } }, 'tcg');
    expect([valuesOf(bare, '-kernel').length, bare.includes('-initrd'), bare.includes('-append')]).toEqual([
      1,
      false,
      false,
    ]);
  });
  it('makes memory that others may map of a file without a name, also what comes while the machine runs', () => {
    expect(valuesOf(qemuArguments(spec, 'tcg'), '-object').filter((value) => value.startsWith('memory-'))).toEqual([]);
    const max = { vcpus: 3, memoryBytes: 512 * 1024 * 1024 };
    const args = qemuArguments({ ...spec, max, hardware: { sharedMemory: true } }, 'tcg');
    expect(valuesOf(args, '-object').filter((value) => value.startsWith('memory-'))).toEqual([
      'memory-backend-memfd,id=more-memory,size=268435456B,share=on,reserve=off',
      'memory-backend-memfd,id=main-memory,size=268435456B,share=on',
    ]);
    expect(valuesOf(args, '-machine')).toContain('memory-backend=main-memory');
    const huge = qemuArguments({ ...spec, hardware: { pageSize: '2MiB' } }, 'tcg');
    expect(valuesOf(huge, '-object')).toContain(
      'memory-backend-memfd,id=main-memory,size=268435456B,share=off,hugetlb=on,hugetlbsize=2097152B,prealloc=on',
    );
  });
  it('gives each share a device by its name, and every device a slot of its own, whatever is asked for', () => {
    const shares = ['a', 'b', 'c', 'd'].map((tag) => ({
      tag,
      path: `/srv/${tag}`,
      readonly: false,
      user: 7,
      group: 7,
    }));
    const max = { vcpus: 4, memoryBytes: 512 * 1024 * 1024 };
    const machine = { tpm: true, balloon: true, watchdog: 'restart' } as const;
    const all: VmSpec = { ...spec, shares, max, machine, hardware: { sharedMemory: true } };
    const args = qemuArguments(all, 'tcg', null, true);
    const devices = valuesOf(args, '-device')
      .filter((value) => value.startsWith('{'))
      .map((value) => JSON.parse(value) as Record<string, string>);
    expect(devices.filter(({ driver }) => driver === 'vhost-user-fs-pci').map(({ tag }) => tag)).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
    const slots = devices.flatMap(({ addr }) => (addr === undefined ? [] : [addr]));
    expect(slots.length).toBeGreaterThan(10);
    expect(
      new Set(slots.map((slot) => Number.parseInt(slot, 16) + Number(`0.${slot.split('.')[1] ?? '0'}`))).size,
    ).toBe(slots.length);
    expect(valuesOf(args, '-chardev')).toContain('socket,id=share1,path=/run/a,,b/f/1/s');
  });
  it('gives a CPU model that is asked for whole, also to vCPUs that come later, and all that there is otherwise', () => {
    expect(valuesOf(qemuArguments(spec, 'kvm'), '-cpu')).toEqual(['host']);
    expect(valuesOf(qemuArguments(spec, 'tcg'), '-cpu')).toEqual(['max']);
    const max = { vcpus: 4, memoryBytes: spec.memoryBytes };
    const args = qemuArguments({ ...spec, vcpus: 2, max, hardware: { cpuModel: 'Nehalem-v1' } }, 'kvm');
    expect(valuesOf(args, '-cpu')).toEqual(['Nehalem-v1,enforce']);
    expect(valuesOf(args, '-device').filter((value) => value.includes('-x86_64-cpu'))).toEqual([
      expect.stringContaining('"Nehalem-v1-x86_64-cpu"'),
    ]);
  });
  it('states the format, the lock and the read-only flag of every disk', () => {
    const [file, node] = valuesOf(qemuArguments(spec, 'tcg'), '-blockdev').map(
      (value) => JSON.parse(value) as Record<string, unknown>,
    );
    expect(file).toMatchObject({
      driver: 'file',
      filename: '/pool/a,b.raw',
      locking: 'on',
      'read-only': true,
      'auto-read-only': false,
    });
    expect(node).toMatchObject({ driver: 'raw', 'read-only': true });
  });
  it('boots from the first disk or from none', () => {
    const [first] = spec.disks;
    const disks = ['a', 'b'].map((id) => ({
      ...first,
      id,
      path: `/pool/${id}`,
      format: 'raw' as const,
      readonly: false,
    }));
    const devices = valuesOf(qemuArguments({ ...spec, disks }, 'tcg'), '-device')
      .filter((value) => value.includes('virtio-blk-pci'))
      .map((value) => JSON.parse(value) as Record<string, unknown>);
    expect(devices.map(({ id, bootindex }) => [id, bootindex])).toEqual([
      ['d-a', 1],
      ['d-b', undefined],
    ]);
  });
  it("has a UEFI in flash, its code for reading only and its variables in the VM's own file, and a BIOS otherwise", () => {
    const args = qemuArguments(spec, 'tcg', { code: '/uefi/code.fd', variables: '/uefi/vars.fd' });
    expect(valuesOf(args, '-machine')[0]).toMatch(/,pflash0=uefi-code,pflash1=uefi-vars/);
    const [code, variables] = valuesOf(args, '-blockdev').map((value) => JSON.parse(value) as Record<string, unknown>);
    expect(code).toMatchObject({
      'node-name': 'uefi-code',
      'read-only': true,
      file: { filename: '/uefi/code.fd', 'read-only': true },
    });
    expect(variables).toMatchObject({
      'node-name': 'uefi-vars',
      'read-only': false,
      file: { filename: '/log/uefi-vars.fd' },
    });
    expect(qemuArguments(spec, 'tcg').join(' ')).not.toContain('pflash');
  });
  it('has a screen when asked, which changes no place of a disk or a card', () => {
    const [without, args] = [qemuArguments(spec, 'tcg'), qemuArguments(spec, 'tcg', null, true)];
    expect(args.slice(0, without.length)).toEqual(without);
    expect(valuesOf(args, '-vnc')).toEqual(['unix:/run/a,,b/s/vnc.sock,share=force-shared']);
    const devices = valuesOf(args.slice(without.length), '-device').map((one) => JSON.parse(one) as { addr: string });
    expect(devices.map(({ addr }) => addr)).toEqual(['0x1e', '0x1d']);
  });
  it.each([
    [undefined, 'reboot=reset,shutdown=pause,panic=none', 0],
    [{ watchdog: 'restart' }, 'reboot=reset,shutdown=pause,panic=none,watchdog=reset', 1],
    [{ watchdog: 'stop', panic: 'stop' }, 'reboot=reset,shutdown=pause,panic=pause,watchdog=pause', 1],
    [{ watchdog: 'notify', panic: 'restart' }, 'reboot=reset,shutdown=pause,panic=none,watchdog=none', 1],
    [{ panic: 'notify' }, 'reboot=reset,shutdown=pause,panic=none', 0],
  ] as const)('does by itself what was asked for a guest in trouble: %j', (machine, actions, watchdogs) => {
    const args = qemuArguments({ ...spec, ...(machine && { machine }) }, 'tcg');
    expect(valuesOf(args, '-action')).toEqual([actions]);
    expect(args.filter((arg) => arg.includes('i6300esb'))).toHaveLength(watchdogs);
  });
  it('has each device in a place of its own, whatever is asked for', () => {
    const args = qemuArguments({ ...spec, machine: { tpm: true, watchdog: 'stop' } }, 'tcg', null, true);
    const places = valuesOf(args, '-device')
      .filter((value) => value.startsWith('{'))
      .flatMap((value) => {
        const { bus, addr } = JSON.parse(value) as { bus?: string; addr?: string };
        return addr === undefined ? [] : `${bus ?? ''} ${addr.replace('0x', '')}`;
      });
    expect(places.length).toBeGreaterThan(16);
    expect(new Set(places).size).toBe(places.length);
  });
  it('has a place for each card and each disk that may come, and those that are there at first behind one of them', () => {
    const devices = valuesOf(qemuArguments(spec, 'tcg'), '-device')
      .filter((value) => value.startsWith('{'))
      .map((value) => JSON.parse(value) as Record<string, unknown>);
    const ports = devices.filter(({ driver }) => driver === 'pcie-root-port');
    expect(ports.map(({ id }) => id)).toEqual(
      ['slot', 'disk-slot'].flatMap((name) => Array.from({ length: 8 }, (_, index) => `${name}${index}`)),
    );
    for (const key of ['addr', 'chassis', 'slot']) expect(new Set(ports.map((port) => port[key])).size).toBe(16);
    expect(devices.find(({ driver }) => driver === 'virtio-net-pci')).toMatchObject({ id: 'n-n1', bus: 'slot0' });
  });
  it('never uses a helper script, a default device or the name that a tenant gave', () => {
    const args = qemuArguments(spec, 'kvm');
    expect(valuesOf(args, '-netdev')).toEqual(['tap,id=net-n1,ifname=tap1,script=no,downscript=no,vhost=off']);
    expect(args).toEqual(expect.arrayContaining(['-nodefaults', '-no-user-config', '-sandbox']));
    expect(args.join(' ')).not.toContain('guest=a');
    expect(valuesOf(args, '-cpu')).toEqual(['host']);
  });
});
