import type { VmSpec } from '../vmm-driver';
import { chConfig } from './ch-config';

const id = '0b8e9d1a-7f7b-4d0e-9a55-2f60c1aabbcc';
const spec: VmSpec = {
  instanceId: id,
  name: 'a',
  vcpus: 1,
  memoryBytes: 2 ** 28,
  disks: [],
  nics: [],
  netns: null,
  user: 1_000_000,
  runDir: '/run/a',
  logDir: '/log',
};
const platform = (names: boolean): unknown =>
  chConfig(spec, { firmware: '/fw', kernel: '', cmdline: '' }, { landlock: false, names }).platform;

describe('the firmware’s tables', () => {
  it('name the machine so that agents of guests look for metadata, and know the instance again', () =>
    expect(platform(true)).toEqual({
      system_manufacturer: 'VC Stack',
      system_product_name: 'OpenStack Compute',
      system_serial_number: id,
      system_uuid: id,
    }));
  it('hold a seed where the VMM takes no names', () =>
    expect(platform(false)).toEqual({ serial_number: 'ds=nocloud-net;s=http://169.254.169.254/nocloud/', uuid: id }));
});

describe('what boots', () => {
  const payload = (kernel?: VmSpec['kernel']): unknown =>
    chConfig(
      { ...spec, ...(kernel && { kernel }) },
      { firmware: '/fw', kernel: '', cmdline: '' },
      { landlock: true, names: true },
    ).payload;
  it('is what the host has for disks, or else the kernel of the image alone', () => {
    expect(payload()).toEqual({ firmware: '/fw' });
    expect(payload({ path: '/k', initramfs: '/i', commandLine: 'quiet' })).toEqual({
      kernel: '/k',
      initramfs: '/i',
      cmdline: 'quiet',
    });
    expect(payload({ path: '/k', initramfs: null, commandLine: '' })).toEqual({ kernel: '/k', cmdline: '' });
  });
});

it('shares the memory of a guest where that is asked for', () => {
  const memoryOf = (hardware: VmSpec['hardware']) =>
    chConfig({ ...spec, hardware }, { firmware: '/fw', kernel: '', cmdline: '' }, { landlock: false, names: true })
      .memory;
  expect(memoryOf({ sharedMemory: true })).toMatchObject({ shared: true });
  expect(memoryOf({ pageSize: '1GiB' })).toEqual({
    size: spec.memoryBytes,
    hugepages: true,
    hugepage_size: 2 ** 30,
    reserve: true,
    prefault: true,
  });
  expect(memoryOf({})).not.toHaveProperty('shared');
});

describe('limits', () => {
  const configOf = (part: Partial<VmSpec>) =>
    chConfig({ ...spec, ...part }, { firmware: '/fw', kernel: '', cmdline: '' }, { landlock: false, names: true });
  const disks: VmSpec['disks'] = [
    { id: 'a', path: '/a', format: 'raw', readonly: false },
    { id: 'b', path: '/b', format: 'raw', readonly: true, detachable: true },
  ];
  const card = { id: 'n', tap: 't', mac: '52:54:00:00:00:01', mtu: 1500 };

  it('are one group of all disks, and a bucket of each card that holds the burst', () => {
    const nic = { bytesPerSecond: 2_000_000, burstSeconds: 5 };
    const limits = { disk: { iops: 500, bytesPerSecond: 1_000_000, burstSeconds: 2 }, nic };
    const config = configOf({ disks, nics: [{ ...card, limit: nic }], limits });
    expect(config.rate_limit_groups).toEqual([
      {
        id: 'disk-limits',
        rate_limiter_config: {
          bandwidth: { size: 2_000_000, refill_time: 2000 },
          ops: { size: 1000, refill_time: 2000 },
        },
      },
    ]);
    expect(config.disks.map((disk) => disk.rate_limit_group)).toEqual(['disk-limits', 'disk-limits']);
    expect(config.net.map((net) => net.rate_limiter_config)).toEqual([
      { bandwidth: { size: 10_000_000, refill_time: 5000 } },
    ]);
  });

  it('are not told of where there are none', () => {
    const config = configOf({ disks, nics: [card] });
    expect(JSON.stringify(config)).not.toMatch(/rate_limit/);
    expect(
      configOf({ disks, limits: { disk: { iops: 10, bytesPerSecond: null, burstSeconds: 1 }, nic: null } })
        .rate_limit_groups?.[0]?.rate_limiter_config,
    ).toEqual({ ops: { size: 10, refill_time: 1000 } });
  });
});

describe('CPUs of its own', () => {
  const config = (part: Partial<VmSpec>) =>
    chConfig({ ...spec, ...part }, { firmware: '/fw', kernel: '', cmdline: '' }, { landlock: false, names: true });

  it('are one for each vCPU, and the guest sees one node', () => {
    const { cpus, memory, ...rest } = config({ vcpus: 2, cpus: { own: [5, 3], process: [3, 5] } });
    expect(cpus).toEqual({
      boot_vcpus: 2,
      max_vcpus: 2,
      affinity: [
        { vcpu: 0, host_cpus: [5] },
        { vcpu: 1, host_cpus: [3] },
      ],
    });
    expect(memory.size).toBe(spec.memoryBytes);
    expect(rest).not.toHaveProperty('numa');
    expect(config({ cpus: { own: null, process: [0] } }).cpus).not.toHaveProperty('affinity');
  });

  it('lie on nodes of the host that have other numbers than those of the guest, with what is asked of memory', () => {
    const node = { vcpus: 2, memoryBytes: 1024 * 1024 };
    const { cpus, memory, numa } = config({
      vcpus: 4,
      memoryBytes: 2 * 1024 * 1024,
      hardware: { sharedMemory: true },
      cpus: {
        own: [8, 9, 2, 3],
        process: [2, 3, 8, 9],
        nodes: [
          { ...node, hostNode: 4 },
          { ...node, hostNode: 1 },
        ],
      },
    });
    expect(cpus.topology).toEqual({ threads_per_core: 1, cores_per_die: 2, dies_per_package: 1, packages: 2 });
    expect(memory).toEqual({
      size: 0,
      zones: [
        { id: 'node0', size: 1024 * 1024, host_numa_node: 4, shared: true },
        { id: 'node1', size: 1024 * 1024, host_numa_node: 1, shared: true },
      ],
    });
    expect(numa).toEqual([
      { guest_numa_id: 0, cpus: [0, 1], memory_zones: ['node0'] },
      { guest_numa_id: 1, cpus: [2, 3], memory_zones: ['node1'] },
    ]);
  });
});
