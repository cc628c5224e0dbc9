import {
  defaulted,
  flag,
  list,
  object,
  optional,
  required,
  text,
  u16,
  u32,
  u64,
  u8,
  variant,
  type Decoded,
  type Field,
} from './decode';

const MiB = 1024 * 1024;
const none = <T>(): T | null => null;

/** Members of every PCI device item. */
const pci = {
  id: optional(text),
  iommu: defaulted(flag, false),
  pci_segment: defaulted(u16, 0),
  pci_device_id: optional(u8),
};

const tokenBucket = object('TokenBucketConfig', {
  size: required(u64),
  one_time_burst: optional(u64),
  refill_time: required(u64),
});
const rateLimiter = object('RateLimiterConfig', { bandwidth: optional(tokenBucket), ops: optional(tokenBucket) }, true);

const topology = object('CpuTopology', {
  threads_per_core: required(u16),
  cores_per_die: required(u16),
  dies_per_package: required(u16),
  packages: required(u16),
});
const cpus = object('CpusConfig', {
  boot_vcpus: required(u32),
  max_vcpus: required(u32),
  topology: optional(topology),
  kvm_hyperv: defaulted(flag, false),
  max_phys_bits: defaulted(u8, 46),
  affinity: optional(list(object('CpuAffinity', { vcpu: required(u32), host_cpus: required(list(u64)) }))),
  features: defaulted(object('CpuFeatures', { amx: defaulted(flag, false) }), () => ({ amx: false })),
  nested: defaulted(flag, true),
  core_scheduling: defaulted(variant('Vm', 'Vcpu', 'Off'), 'Vm'),
});
const zone = object('MemoryZoneConfig', {
  id: required(text),
  size: required(u64),
  file: optional(text),
  shared: defaulted(flag, false),
  hugepages: defaulted(flag, false),
  hugepage_size: optional(u64),
  host_numa_node: optional(u32),
  hotplug_size: optional(u64),
  hotplugged_size: optional(u64),
  prefault: defaulted(flag, false),
  reserve: defaulted(flag, false),
  mergeable: defaulted(flag, false),
});
const memory = object('MemoryConfig', {
  size: required(u64),
  mergeable: defaulted(flag, false),
  hotplug_method: defaulted(variant('Acpi', 'VirtioMem'), 'Acpi'),
  hotplug_size: optional(u64),
  hotplugged_size: optional(u64),
  shared: defaulted(flag, false),
  hugepages: defaulted(flag, false),
  hugepage_size: optional(u64),
  prefault: defaulted(flag, false),
  reserve: defaulted(flag, false),
  thp: defaulted(flag, true),
  zones: optional(list(zone)),
});
const payload = object('PayloadConfig', {
  firmware: optional(text),
  kernel: optional(text),
  cmdline: optional(text),
  initramfs: optional(text),
});

export const disk = object('DiskConfig', {
  ...pci,
  path: optional(text),
  readonly: defaulted(flag, false),
  direct: defaulted(flag, false),
  num_queues: defaulted(u64, 1),
  queue_size: defaulted(u16, 128),
  vhost_user: defaulted(flag, false),
  vhost_socket: optional(text),
  rate_limit_group: optional(text),
  rate_limiter_config: optional(rateLimiter),
  disable_io_uring: defaulted(flag, false),
  disable_aio: defaulted(flag, false),
  serial: optional(text),
  backing_files: defaulted(flag, false),
  sparse: defaulted(flag, true),
  image_type: defaulted(variant('FixedVhd', 'Qcow2', 'Raw', 'Vhdx', 'FlatVmdk', 'Unknown'), 'Unknown'),
  lock_granularity: defaulted(variant('ByteRange', 'Full'), 'ByteRange'),
});
export const net = object('NetConfig', {
  ...pci,
  tap: optional(text),
  ip: optional(text),
  mask: optional(text),
  mac: optional(text),
  host_mac: optional(text),
  mtu: optional(u16),
  num_queues: defaulted(u64, 2),
  queue_size: defaulted(u16, 256),
  vhost_user: defaulted(flag, false),
  vhost_socket: optional(text),
  vhost_mode: defaulted(variant('Client', 'Server'), 'Client'),
  rate_limiter_config: optional(rateLimiter),
  offload_tso: defaulted(flag, true),
  offload_ufo: defaulted(flag, true),
  offload_csum: defaulted(flag, true),
});
export const fs = object('FsConfig', {
  ...pci,
  tag: required(text),
  socket: required(text),
  num_queues: defaulted(u64, 1),
  queue_size: defaulted(u16, 1024),
});
export const pmem = object('PmemConfig', {
  ...pci,
  file: required(text),
  size: optional(u64),
  discard_writes: defaulted(flag, false),
});
export const device = object('DeviceConfig', { ...pci, path: optional(text), fd: optional(u64) });
export const userDevice = object('UserDeviceConfig', { ...pci, socket: required(text) });
export const vdpa = object('VdpaConfig', { ...pci, path: required(text), num_queues: defaulted(u64, 1) });
export const vsock = object('VsockConfig', { ...pci, cid: required(u32), socket: required(text) });
export const genericVhostUser = object('GenericVhostUserConfig', {
  ...pci,
  socket: required(text),
  queue_sizes: required(list(u16)),
  device_type: required(u32),
});

const serialMode = variant('Off', 'Pty', 'Tty', 'File', 'Socket', 'Null');
const console = object('ConsoleConfig', {
  file: optional(text),
  mode: required(serialMode),
  iommu: defaulted(flag, false),
  socket: optional(text),
});
const balloon = object('BalloonConfig', {
  size: required(u64),
  deflate_on_oom: defaulted(flag, false),
  free_page_reporting: defaulted(flag, false),
});
const platform = object('PlatformConfig', {
  num_pci_segments: defaulted(u16, 1),
  iommu_segments: optional(list(u16)),
  iommu_address_width_bits: defaulted(u8, 64),
  system_serial_number: optional(text),
  serial_number: optional(text),
  system_uuid: optional(text),
  uuid: optional(text),
  system_manufacturer: optional(text),
  system_product_name: optional(text),
  oem_strings: optional(list(text)),
  iommufd: defaulted(flag, false),
});
const group = object('RateLimiterGroupConfig', { id: required(text), rate_limiter_config: required(rateLimiter) });
const landlockRule = object('LandlockConfig', { path: required(text), access: required(text) });

const items = <T>(decode: (value: unknown) => T): Field<T[] | null> => ({
  decode: (value) => (value === null ? null : list(decode)(value)),
  absent: none,
});

/** Body of vm.create, and `config` of vm.info. Sizes in bytes. */
export const vmConfig = object('VmConfig', {
  cpus: defaulted(cpus, () => cpus({ boot_vcpus: 1, max_vcpus: 1 })),
  memory: defaulted(memory, () => memory({ size: 512 * MiB })),
  payload: optional(payload),
  rate_limit_groups: items(group),
  disks: items(disk),
  net: items(net),
  rng: defaulted(object('RngConfig', { src: required(text), iommu: defaulted(flag, false) }), () => ({
    src: '/dev/urandom',
    iommu: false,
  })),
  balloon: optional(balloon),
  fs: items(fs),
  generic_vhost_user: items(genericVhostUser),
  pmem: items(pmem),
  serial: defaulted(console, () => console({ mode: 'Null' })),
  console: defaulted(console, () => console({ mode: 'Tty' })),
  devices: items(device),
  user_devices: items(userDevice),
  vdpa: items(vdpa),
  vsock: optional(vsock),
  pvpanic: defaulted(flag, false),
  iommu: defaulted(flag, false),
  watchdog: defaulted(flag, false),
  platform: optional(platform),
  landlock_enable: defaulted(flag, false),
  landlock_rules: items(landlockRule),
});

export type VmConfig = ReturnType<typeof vmConfig>;
export type DiskConfig = ReturnType<typeof disk>;
export type ConsoleConfig = ReturnType<typeof console>;
/** What all hotpluggable items share. */
export type DeviceItem = Decoded<typeof pci>;

/** Lists of the configuration that hold PCI device items with ids. */
export const deviceLists = [
  'disks',
  'net',
  'fs',
  'generic_vhost_user',
  'pmem',
  'devices',
  'user_devices',
  'vdpa',
] as const;

/** Every item with an id, in the order in which the VMM looks at them. */
export const deviceItems = (config: VmConfig): DeviceItem[] => [
  ...deviceLists.flatMap((key): DeviceItem[] => config[key] ?? []),
  ...(config.vsock ? [config.vsock] : []),
];
