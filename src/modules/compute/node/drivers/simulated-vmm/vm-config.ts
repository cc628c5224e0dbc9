import { randomBytes } from 'node:crypto';
import {
  address,
  checked,
  defaulted,
  flag,
  flattened,
  list,
  made,
  object,
  optional,
  path,
  required,
  text,
  u16,
  u32,
  u64,
  u8,
  usize,
  variant,
  type Decoded,
  type Decoder,
  type Field,
} from './decode';

const MiB = 1024 * 1024;

/** Members of every PCI device item. */
const place = {
  id: optional(text),
  iommu: defaulted(flag, false),
  pci_segment: defaulted(u16, 0),
  pci_device_id: optional(u8),
};
const pci = flattened(place);

/** A MAC address, in small letters. */
const mac: Decoder<string> = (node) =>
  checked(text, (value) =>
    /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(value)
      ? null
      : `The provided MAC address is invalid: parsing of ${value} into a MAC address failed`,
  )(node).toLowerCase();
/** A locally administered one, as the VMM draws it. */
export const randomMac = (): string =>
  `2e:${[...randomBytes(5)].map((byte) => byte.toString(16).padStart(2, '0')).join(':')}`;

const tokenBucket = object('TokenBucketConfig', {
  size: required(u64),
  one_time_burst: optional(u64),
  refill_time: required(u64),
});
const rateLimiter = object(
  'RateLimiterConfig',
  { bandwidth: optional(tokenBucket), ops: optional(tokenBucket) },
  { deny: true },
);

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
  affinity: optional(list(object('CpuAffinity', { vcpu: required(u32), host_cpus: required(list(usize)) }))),
  features: defaulted(object('CpuFeatures', { amx: defaulted(flag, false) }), () => ({ amx: false })),
  nested: defaulted(flag, true),
  core_scheduling: defaulted(variant('Vm', 'Vcpu', 'Off'), 'Vm'),
  profile: defaulted(variant('Host'), 'Host'),
});
const zone = object('MemoryZoneConfig', {
  id: required(text),
  size: required(u64),
  file: optional(path),
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
  firmware: optional(path),
  kernel: optional(path),
  cmdline: optional(text),
  initramfs: optional(path),
});

export const disk = object('DiskConfig', {
  ...pci,
  path: optional(path),
  readonly: defaulted(flag, false),
  direct: defaulted(flag, false),
  num_queues: defaulted(usize, 1),
  queue_size: defaulted(u16, 128),
  vhost_user: defaulted(flag, false),
  vhost_socket: optional(text),
  rate_limit_group: optional(text),
  rate_limiter_config: optional(rateLimiter),
  disable_io_uring: defaulted(flag, false),
  disable_aio: defaulted(flag, false),
  serial: optional(text),
  queue_affinity: optional(
    list(object('VirtQueueAffinity', { queue_index: required(u16), host_cpus: required(list(usize)) })),
  ),
  backing_files: defaulted(flag, false),
  sparse: defaulted(flag, true),
  image_type: defaulted(variant('FlatVmdk', 'FixedVhd', 'Qcow2', 'Raw', 'Vhdx', 'Unknown'), 'Unknown'),
  lock_granularity: defaulted(variant('ByteRange', 'Full'), 'ByteRange'),
});
export const net = object('NetConfig', {
  ...pci,
  tap: optional(text),
  ip: optional(address),
  mask: optional(address),
  mac: optional(mac),
  host_mac: optional(mac),
  mtu: optional(u16),
  num_queues: defaulted(usize, 2),
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
  socket: required(path),
  num_queues: defaulted(usize, 1),
  queue_size: defaulted(u16, 1024),
});
export const pmem = object('PmemConfig', {
  ...pci,
  file: required(path),
  size: optional(u64),
  discard_writes: defaulted(flag, false),
});
export const device = object('DeviceConfig', {
  ...pci,
  path: optional(path),
  fd: optional(u64),
  x_nv_gpudirect_clique: optional(u8),
  x_exclude_mmap_bars: defaulted(list(u64), () => []),
});
export const userDevice = object('UserDeviceConfig', { ...pci, socket: required(path) });
export const vdpa = object('VdpaConfig', { ...pci, path: required(path), num_queues: defaulted(usize, 1) });
export const vsock = object('VsockConfig', { ...pci, cid: required(u32), socket: required(path) });
export const genericVhostUser = object('GenericVhostUserConfig', {
  ...pci,
  socket: required(path),
  queue_sizes: required(list(u16)),
  device_type: required(u32),
});

const consoleMode = variant('Off', 'Pty', 'Tty', 'File', 'Socket', 'Null');
const port = flattened({ file: optional(path), mode: required(consoleMode), socket: optional(path) });
const serial = object('SerialConfig', port);
const console = object('ConsoleConfig', { ...port, ...pci });
const debugConsole = object('DebugConsoleConfig', {
  file: optional(path),
  mode: required(consoleMode),
  iobase: optional(u16),
});
const rng = object('RngConfig', { ...pci, src: required(path) });
const balloon = object('BalloonConfig', {
  ...pci,
  size: required(u64),
  deflate_on_oom: defaulted(flag, false),
  free_page_reporting: defaulted(flag, false),
});
const platform = object('PlatformConfig', {
  num_pci_segments: defaulted(u16, 1),
  iommu_segments: optional(list(u16)),
  iommu_address_width_bits: defaulted(u8, 64),
  system_serial_number: optional(text, { alias: 'serial_number' }),
  system_uuid: optional(text, { alias: 'uuid' }),
  oem_strings: optional(list(text)),
  system_manufacturer: optional(text),
  system_product_name: optional(text),
  system_version: optional(text),
  system_family: optional(text),
  system_sku_number: optional(text),
  chassis_asset_tag: optional(text),
  iommufd: defaulted(flag, false),
  vfio_p2p_dma: defaulted(flag, true),
});
const numa = object('NumaConfig', {
  guest_numa_id: required(u32),
  cpus: optional(list(u32)),
  distances: optional(list(object('NumaDistance', { destination: defaulted(u32, 0), distance: defaulted(u8, 0) }))),
  memory_zones: optional(list(text)),
  pci_segments: optional(list(u16)),
  device_id: optional(text),
});
const pciSegment = object('PciSegmentConfig', {
  pci_segment: defaulted(u16, 0),
  mmio32_aperture_weight: defaulted(u32, 1),
  mmio64_aperture_weight: defaulted(u32, 1),
});
const group = object('RateLimiterGroupConfig', { id: required(text), rate_limiter_config: required(rateLimiter) });
const landlockRule = object('LandlockConfig', { path: required(path), access: required(text) });

/** An option that a list which stands for the configuration may not leave out. */
const listed = <T>(decode: Decoder<T>): Field<T | null> => optional(decode, { listed: true });
const items = <T>(decode: Decoder<T>): Field<T[] | null> => listed(list(decode));

/** Members of the original; some of them are of other builds or architectures. */
const configMembers = 28;

/** Body of vm.create, and `config` of vm.info. Sizes in bytes. */
export const vmConfig = object(
  'VmConfig',
  {
    cpus: defaulted(cpus, () => made(cpus, { boot_vcpus: 1, max_vcpus: 1 })),
    memory: defaulted(memory, () => made(memory, { size: 512 * MiB })),
    payload: listed(payload),
    rate_limit_groups: items(group),
    disks: items(disk),
    net: items(net),
    rng: defaulted(rng, () => made(rng, { src: '/dev/urandom' })),
    balloon: listed(balloon),
    generic_vhost_user: items(genericVhostUser),
    fs: items(fs),
    pmem: items(pmem),
    serial: defaulted(serial, () => made(serial, { mode: 'Null' })),
    console: defaulted(console, () => made(console, { mode: 'Tty' })),
    debug_console: defaulted(debugConsole, () => made(debugConsole, { mode: 'Off', iobase: 0xe9 })),
    devices: items(device),
    user_devices: items(userDevice),
    vdpa: items(vdpa),
    vsock: listed(vsock),
    pvpanic: defaulted(flag, false),
    iommu: defaulted(flag, false),
    numa: items(numa),
    watchdog: defaulted(flag, false),
    rtc: optional(object('RtcConfig', pci)),
    pci_segments: items(pciSegment),
    platform: listed(platform),
    tpm: listed(object('TpmConfig', { socket: required(path) })),
    landlock_enable: defaulted(flag, false),
    landlock_rules: items(landlockRule),
  },
  { size: configMembers },
);

export type VmConfig = ReturnType<typeof vmConfig>;
export type DiskConfig = ReturnType<typeof disk>;
export type NetConfig = ReturnType<typeof net>;
/** A serial port or console: its mode and where it goes. */
export type PortConfig = ReturnType<typeof serial>;
/** What all hotpluggable items share. */
export type DeviceItem = Decoded<typeof place>;

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
