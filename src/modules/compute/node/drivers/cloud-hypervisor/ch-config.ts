import { join } from 'node:path';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { type PageSize, pageSizes } from '../../../../host/contract/page-sizes';
import { bucketOf, type DiskLimits } from '../../../contract/limits';
import { firmwareIdentity, seedSerial } from '../common/firmware-identity';
import { memoryOf } from '../common/suspended-memory';
import { socketFolder } from '../common/vmm-files';
import { diskSerial } from '../common/disk-serial';
import { roomToGrow } from '../common/resize-checks';
import type { VmCpus, VmDisk, VmNic, VmSpec } from '../vmm-driver';

/** Sockets in the VMM's own folder, and the lock that it keeps beside one. */
export const chSockets = {
  api: 'api.sock',
  lock: 'api.sock.lock',
  serial: 'serial.sock',
  vsock: 'vsock.sock',
} as const;
/** Of the run folder. */
export const chEvents = 'events.json';
export const chLogs = { output: 'vmm.log', log: 'cloud-hypervisor.log' } as const;

/** What boots the guest. */
export interface ChPayload {
  firmware: string;
  kernel: string;
  cmdline: string;
}

/** The firmware's tables. Releases before 53 know the two older members only, and would ignore the others silently. */
type ChPlatform =
  | { system_manufacturer: string; system_product_name: string; system_serial_number: string; system_uuid?: string }
  | { serial_number: string; uuid?: string };

/** What this VMM on this host can do beyond what all releases can. */
export interface ChAbilities {
  /** The VMM confines itself by Landlock. */
  landlock: boolean;
  /** It takes the names in the firmware's tables. */
  names: boolean;
}

/** A bucket of so many tokens that is full again after so many milliseconds. */
interface ChBucket {
  size: number;
  refill_time: number;
}
interface ChRateLimiter {
  bandwidth?: ChBucket;
  ops?: ChBucket;
}

/** A part of the memory, on one NUMA node of the host. */
interface ChZone {
  id: string;
  size: number;
  host_numa_node: number;
  shared?: true;
}

/** Body of vm.create, as far as it is used here. Unknown members would be ignored silently, so this is typed. */
export interface ChVmConfig {
  cpus: {
    boot_vcpus: number;
    max_vcpus: number;
    affinity?: { vcpu: number; host_cpus: number[] }[];
    topology?: { threads_per_core: number; cores_per_die: number; dies_per_package: number; packages: number };
  };
  memory: {
    size: number;
    hotplug_size?: number;
    shared?: true;
    hugepages?: true;
    hugepage_size?: number;
    reserve?: true;
    prefault?: true;
    zones?: ChZone[];
  };
  numa?: { guest_numa_id: number; cpus: number[]; memory_zones: string[] }[];
  payload: { firmware: string } | { kernel: string; cmdline: string; initramfs?: string };
  disks: {
    id: string;
    path: string;
    readonly: boolean;
    image_type: 'Raw';
    backing_files: false;
    serial: string;
    num_queues: 1;
    rate_limit_group?: string;
  }[];
  net: { id: string; tap: string; mac: string; num_queues: 2; rate_limiter_config?: ChRateLimiter }[];
  rate_limit_groups?: { id: string; rate_limiter_config: ChRateLimiter }[];
  rng: { src: string };
  serial: { mode: 'Socket'; socket: string } | { mode: 'File'; file: string };
  console: { mode: 'Off' };
  pvpanic: true;
  watchdog?: true;
  vsock?: { cid: number; socket: string };
  balloon?: { size: 0; deflate_on_oom: true; free_page_reporting: true };
  platform?: ChPlatform;
  landlock_enable?: true;
  landlock_rules?: { path: string; access: 'r' | 'w' | 'rw' }[];
}

const bucket = (perSecond: number, burst: { burstSeconds: number }): ChBucket => ({
  size: bucketOf(perSecond, burst),
  refill_time: burst.burstSeconds * 1000,
});

/** The group that all disks of a VM share whose disks are limited. Ids of groups and devices share one space. */
export const chDiskLimits = 'disk-limits';

const limitGroup = (disk: DiskLimits): NonNullable<ChVmConfig['rate_limit_groups']>[number] => ({
  id: chDiskLimits,
  rate_limiter_config: {
    ...(disk.bytesPerSecond !== null && { bandwidth: bucket(disk.bytesPerSecond, disk) }),
    ...(disk.iops !== null && { ops: bucket(disk.iops, disk) }),
  },
});

/** The first that is not special. */
const guestCid = 3;

/** A card in its terms. Each direction has a bucket of its own. */
export const chNet = (nic: VmNic): ChVmConfig['net'][number] => ({
  id: chNicId(nic.id),
  tap: nic.tap,
  mac: nic.mac,
  num_queues: 2,
  ...(nic.limit && { rate_limiter_config: { bandwidth: bucket(nic.limit.bytesPerSecond, nic.limit) } }),
});
/** Ids of cards and of disks share one space. */
export const chNicMark = 'n-';
const chNicId = (nicId: string): string => `${chNicMark}${nicId}`;

/** A disk in its terms. `limited`: the VM has the group of limited disks. */
export const chDisk = (disk: VmDisk, limited: boolean): ChVmConfig['disks'][number] => ({
  id: disk.detachable === true ? `${chDiskMark}${disk.id}` : `d-${disk.id}`,
  path: disk.path,
  readonly: disk.readonly,
  image_type: 'Raw',
  backing_files: false,
  serial: diskSerial(disk.id),
  num_queues: 1,
  ...(limited && { rate_limit_group: chDiskLimits }),
});
/** What the ids of disks begin with that may come and go. */
export const chDiskMark = 'v-';

/** Where the VMM looks whether a tap is there and has several queues: the one leads to the other. */
export const tapFacts = ['/sys/class/net', '/sys/devices/virtual/net'];

/** VIRTIO's lowest, which the VMM insists on. */
const lowestMtu = 1280;

/** What only this VMM cannot run. Throws a permanent `VerbFailure`. */
export const checkForCh = (spec: VmSpec, payload: ChPayload): void => {
  if (spec.kernel === undefined && payload.firmware === '' && payload.kernel === '') {
    throw new VerbFailure(
      'no_firmware',
      'Cloud Hypervisor needs a firmware or a kernel on this host (modules.compute.cloudHypervisor.firmware).',
      true,
    );
  }
  for (const nic of spec.nics) checkNicForCh(nic);
};

/** As `checkForCh`, of one card. */
export const checkNicForCh = (nic: VmNic): void => {
  if (nic.mtu >= lowestMtu) return;
  throw new VerbFailure(
    'invalid_spec',
    `NIC ${nic.id}: an MTU of ${nic.mtu} is below ${lowestMtu}, the lowest that Cloud Hypervisor takes.`,
    true,
  );
};

/**
 * The instance in Cloud Hypervisor's terms. Ids are ours, for its own shift between boots; the image type is always
 * said, for a guest could write another format's signature; the console is off, for its default is a terminal that a
 * detached process has not. The MTU is the tap's, which the VMM reads and tells the guest: told one, it would set it,
 * which only root may.
 */
export const chConfig = (spec: VmSpec, payload: ChPayload, { landlock, names }: ChAbilities): ChVmConfig => ({
  cpus: { boot_vcpus: spec.vcpus, max_vcpus: Math.max(spec.vcpus, spec.max?.vcpus ?? 0), ...pinned(spec) },
  memory: memory(spec),
  ...(spec.cpus?.nodes && { numa: chNuma(spec.cpus.nodes) }),
  payload: bootedBy(spec, payload),
  ...(spec.limits?.disk && { rate_limit_groups: [limitGroup(spec.limits.disk)] }),
  disks: spec.disks.map((disk) => chDisk(disk, spec.limits?.disk != null)),
  net: spec.nics.map(chNet),
  rng: { src: '/dev/urandom' },
  serial: { mode: 'Socket', socket: join(socketFolder(spec), chSockets.serial) },
  console: { mode: 'Off' },
  // By which a guest's kernel says that it cannot go on.
  pvpanic: true,
  // It can only restart its guest.
  ...(spec.machine?.watchdog === 'restart' && { watchdog: true as const }),
  // The VMM itself is the other side, so each guest may have the same number.
  ...(spec.machine?.vsock === true && { vsock: { cid: guestCid, socket: join(socketFolder(spec), chSockets.vsock) } }),
  ...(spec.machine?.balloon === true && {
    balloon: { size: 0 as const, deflate_on_oom: true as const, free_page_reporting: true as const },
  }),
  platform: platform(spec.instanceId, names),
  ...(landlock && { landlock_enable: true as const, landlock_rules: landlockRules(spec) }),
});

/** Promised and there before the machine is: what is missing is said then, and not by a signal that ends it later. */
const hugePages = (pageSize: PageSize | undefined): Partial<ChVmConfig['memory']> =>
  pageSize === undefined ? {} : { hugepages: true, hugepage_size: pageSizes[pageSize], reserve: true, prefault: true };

const memory = (spec: VmSpec): ChVmConfig['memory'] =>
  spec.cpus?.nodes ? { size: 0, zones: chZones(spec.cpus.nodes, spec) } : plainMemory(spec);

const plainMemory = (spec: VmSpec): ChVmConfig['memory'] => ({
  size: spec.memoryBytes,
  // By ACPI, its default: it has no word by which it says what a guest took of virtio-mem.
  ...(roomToGrow(spec) > 0 && { hotplug_size: roomToGrow(spec) }),
  ...(spec.hardware?.sharedMemory === true && { shared: true as const }),
  ...hugePages(spec.hardware?.pageSize),
});

type Nodes = NonNullable<VmCpus['nodes']>;
const zoneId = (guestNode: number): string => `node${guestNode}`;

/** What is asked of all of its memory is asked of each zone. */
const chZones = (nodes: Nodes, spec: VmSpec): ChZone[] => {
  const { size: _whole, ...asked } = plainMemory({ ...spec, memoryBytes: 0 });
  return nodes.map(({ hostNode, memoryBytes }, guestNode) => ({
    ...asked,
    id: zoneId(guestNode),
    size: memoryBytes,
    host_numa_node: hostNode,
  }));
};

/** The nodes that the guest sees: its vCPUs in order, and a zone of memory each. */
const chNuma = (nodes: Nodes): NonNullable<ChVmConfig['numa']> => {
  let next = 0;
  return nodes.map(({ vcpus }, guestNode) => {
    const first = next;
    next += vcpus;
    return {
      guest_numa_id: guestNode,
      cpus: Array.from({ length: vcpus }, (_, index) => first + index),
      memory_zones: [zoneId(guestNode)],
    };
  });
};

/** Each vCPU by itself on its CPU. A package that lay on two nodes would be none that there is. */
const pinned = ({ cpus, vcpus }: VmSpec): Pick<ChVmConfig['cpus'], 'affinity' | 'topology'> => ({
  ...(cpus?.own && { affinity: cpus.own.map((cpu, vcpu) => ({ vcpu, host_cpus: [cpu] })) }),
  ...(cpus?.nodes && {
    topology: {
      threads_per_core: 1,
      cores_per_die: vcpus / cpus.nodes.length,
      dies_per_package: 1,
      packages: cpus.nodes.length,
    },
  }),
});

/** The instance's own kernel goes before what the host boots disks by. */
const bootedBy = ({ kernel: own }: VmSpec, { firmware, kernel, cmdline }: ChPayload): ChVmConfig['payload'] => {
  if (own === undefined) return firmware !== '' ? { firmware } : { kernel, cmdline };
  return { kernel: own.path, cmdline: own.commandLine, ...(own.initramfs !== null && { initramfs: own.initramfs }) };
};

const platform = (instanceId: string, names: boolean): ChPlatform => {
  const { manufacturer, product, serial, uuid } = firmwareIdentity(instanceId);
  if (!names) return { serial_number: seedSerial, ...(uuid !== null && { uuid }) };
  return {
    system_manufacturer: manufacturer,
    system_product_name: product,
    system_serial_number: serial,
    ...(uuid !== null && { system_uuid: uuid }),
  };
};

/**
 * What the VMM does not think of itself: a reboot binds the serial socket anew, so its folder must stay writable; and
 * it reads each tap's flags there, those of cards that come later too. A rule for each that is there at first, for a
 * tap that has vanished is told by it. A suspend writes to a folder of its own.
 */
const landlockRules = (spec: VmSpec): NonNullable<ChVmConfig['landlock_rules']> => [
  { path: socketFolder(spec), access: 'rw' },
  { path: memoryOf(spec).directory, access: 'rw' },
  // Disks that come later lie in these.
  ...(spec.diskFolders ?? []).map((path) => ({ path, access: 'rw' as const })),
  ...spec.nics.map((nic) => ({ path: `/sys/class/net/${nic.tap}`, access: 'r' as const })),
  ...(spec.nics.length > 0 ? tapFacts.map((path) => ({ path, access: 'r' as const })) : []),
];
