import { existsSync } from 'node:fs';
import { ApiFailure } from './api-failure';
import type { VersionProfile } from './profile';
import type { DeviceItem, VmConfig } from './vm-config';

/** The first fault of a configuration: what the VMM says of it, and whether it is one of two duplicates. */
interface ConfigFault {
  chain: string[];
  duplicate: boolean;
}

/** The ids so far, and what is said of one that may not be. */
interface Seen {
  ids: Set<string>;
  invalid: string;
}

const fault = (...chain: string[]): ConfigFault => ({ chain, duplicate: false });
const sharedMemory = 'Using vhost-user requires using shared memory or huge pages';
const largestVcpus = 8192;
/** A block device's queue is longer than this. */
const leastQueueSize = 2;
const slotsPerSegment = 32;
const powerOfTwo = (n: number): boolean => n > 0 && (n & (n - 1)) === 0;

function* payloadFaults(config: VmConfig): Generator<ConfigFault> {
  const bootable = 'Payload configuration is not bootable';
  const { payload } = config;
  if (!payload?.firmware && !payload?.kernel)
    yield fault(bootable, 'No bootitem provided: neither firmware nor kernel');
  else if (payload.firmware && payload.kernel)
    yield fault(bootable, 'Specifying a kernel is not supported when a firmware is provided');
  for (const port of [config.console, config.serial])
    if (port.mode === 'File' && port.file === null) yield fault('Path missing when using file console mode');
  const { boot_vcpus: boot, max_vcpus: max } = config.cpus;
  if (max < boot) yield fault(`Max CPUs (${max}) lower than boot CPUs (${boot})`);
  if (max > largestVcpus) yield fault(`Too many CPUs: specified ${max} but ${largestVcpus} is the limit`);
}

function* itemFaults(item: DeviceItem, seen: Seen): Generator<ConfigFault> {
  if (item.id === null) return;
  if (item.id.startsWith('__')) yield fault(`Identifier ${item.id} ${seen.invalid}`);
  if (seen.ids.has(item.id)) yield { chain: [`Identifier ${item.id} is not unique`], duplicate: true };
  seen.ids.add(item.id);
}

/** Where on the bus an item may be: looked at before anything else of it. */
function* placeFaults(item: DeviceItem, config: VmConfig): Generator<ConfigFault> {
  const { num_pci_segments: segments = 1 } = config.platform ?? {};
  const { pci_segment: segment, pci_device_id: slot } = item;
  if (segment >= segments) yield fault(`Invalid PCI segment id: ${segment}`);
  if (slot === 0) yield fault('Given PCI device ID (0) is reserved');
  if (slot !== null && slot >= slotsPerSegment)
    yield fault(`Given PCI device ID (${slot}) is out of the supported range of 0..${slotsPerSegment}`);
}

function* diskFaults(config: VmConfig, seen: Seen, shared: boolean): Generator<ConfigFault> {
  const groups = new Set((config.rate_limit_groups ?? []).map((group) => group.id));
  for (const disk of config.disks ?? []) {
    yield* placeFaults(disk, config);
    if (disk.path !== null && disk.vhost_socket !== null) yield fault('Disk path and vhost socket both provided');
    if (disk.vhost_user && !shared) yield fault(sharedMemory);
    if (disk.vhost_user && disk.vhost_socket === null) yield fault('No socket provided when using vhost-user');
    if (disk.vhost_user && disk.rate_limiter_config !== null)
      yield fault('Rate limiting is not supported with vhost-user');
    if (disk.rate_limit_group !== null && !groups.has(disk.rate_limit_group)) yield fault('Invalid rate-limiter group');
    if (disk.num_queues > config.cpus.boot_vcpus)
      yield fault(`Queue count (${disk.num_queues}) must not exceed boot vCPUs (${config.cpus.boot_vcpus})`);
    if (!powerOfTwo(disk.queue_size))
      yield fault(`Queue size must be a power of 2 no greater than 32768: ${disk.queue_size}`);
    if (disk.queue_size <= leastQueueSize)
      yield fault(`Block queue size must be greater than ${leastQueueSize}: ${disk.queue_size}`);
    if (disk.serial !== null && Buffer.byteLength(disk.serial) > 20)
      yield fault(`Block device serial length (${Buffer.byteLength(disk.serial)}) exceeds maximum allowed length (20)`);
    yield* itemFaults(disk, seen);
  }
}

function* netFaults(config: VmConfig, seen: Seen, shared: boolean): Generator<ConfigFault> {
  for (const net of config.net ?? []) {
    yield* placeFaults(net, config);
    if (net.num_queues < 2) yield fault(`Number of queues (${net.num_queues}) to virtio_net should be higher than 2`);
    if (net.vhost_user && !shared) yield fault(sharedMemory);
    if (Math.floor(net.num_queues / 2) > config.cpus.boot_vcpus)
      yield fault(`Queue count (${net.num_queues}) must not exceed boot vCPUs (${config.cpus.boot_vcpus})`);
    if (!powerOfTwo(net.queue_size))
      yield fault(`Queue size must be a power of 2 no greater than 32768: ${net.queue_size}`);
    if (net.mtu !== null && net.mtu < 1280)
      yield fault(`Provided MTU ${net.mtu} is lower than 1280 (expected by VIRTIO specification)`);
    if (!net.offload_csum && (net.offload_tso || net.offload_ufo))
      yield fault('"offload_tso" and "offload_ufo" depend on "offload_csum"');
    if (net.mask !== null && net.ip === null) yield fault('Mask provided without an IP');
    if (net.ip !== null && net.mask === null) yield fault('IP provided without a mask');
    yield* itemFaults(net, seen);
  }
}

function* cpuAndMemoryFaults(config: VmConfig): Generator<ConfigFault> {
  const { topology } = config.cpus;
  if (topology) {
    const parts = Object.values(topology);
    if (parts.includes(0)) yield fault('No part of the CPU topology can be zero');
    if (topology.threads_per_core > 2) yield fault('CPU topology supports at most 2 threads per core');
    if (parts.reduce((product, part) => product * part, 1) !== config.cpus.max_vcpus)
      yield fault('Product of CPU topology parts does not match maximum vCPU');
  }
  const { memory } = config;
  if (memory.hugepage_size !== null && !memory.hugepages)
    yield fault('Huge page size specified but huge pages not enabled');
  if (memory.hugepage_size !== null && !powerOfTwo(memory.hugepage_size))
    yield fault(`Huge page size is not power of 2: ${memory.hugepage_size}`);
  if (memory.shared && memory.mergeable) yield fault("Invalid to set both 'mergeable' and 'shared' for memory");
}

function* lateFaults(config: VmConfig, seen: Seen): Generator<ConfigFault> {
  const { vsock, balloon } = config;
  if (vsock && [0, 1, 2, 0xffffffff].includes(vsock.cid)) yield fault(`${vsock.cid} is a special VSOCK CID`);
  const ram = config.memory.size + (config.memory.zones ?? []).reduce((sum, zone) => sum + zone.size, 0);
  if (balloon && balloon.size >= ram) yield fault(`Balloon size (${balloon.size}) greater than RAM (${ram})`);
  const paths = new Set<string>();
  for (const device of config.devices ?? []) {
    if (device.path === null && device.fd === null) yield fault('VFIO device config must specify `path=` or `fd=`');
    if (device.path !== null && paths.has(device.path))
      yield { chain: [`Duplicated device path: ${device.path}`], duplicate: true };
    if (device.path !== null) paths.add(device.path);
    yield* placeFaults(device, config);
    yield* itemFaults(device, seen);
  }
  if (vsock) yield* placeFaults(vsock, config);
  if (vsock) yield* itemFaults(vsock, seen);
  yield* numaFaults(config);
}

function* numaFaults(config: VmConfig): Generator<ConfigFault> {
  const segments = config.platform?.num_pci_segments ?? 1;
  const zones = new Map<string, number>();
  const taken = new Map<number, number>();
  for (const { guest_numa_id: node, memory_zones: named, pci_segments: placed } of config.numa ?? []) {
    for (const zone of named ?? []) {
      if (zones.has(zone))
        yield fault(`Memory zone: ${zone} belongs to multiple NUMA nodes: ${zones.get(zone) ?? 0} and ${node}`);
      zones.set(zone, node);
    }
    for (const segment of placed ?? []) {
      if (segment >= segments) yield fault(`Invalid PCI segment id: ${segment}`);
      if (segment === 0 && node !== 0) yield fault(`Default PCI segment assigned to non-zero NUMA node ${node}`);
      if (taken.has(segment))
        yield fault(`PCI segment: ${segment} belongs to multiple NUMA nodes ${taken.get(segment) ?? 0} and ${node}`);
      taken.set(segment, node);
    }
  }
}

function* segmentFaults(config: VmConfig): Generator<ConfigFault> {
  const segments = config.platform?.num_pci_segments ?? 1;
  if (segments < 1 || segments > 96) yield fault(`Number of PCI segments (${segments}) not in range of 1 to 96`);
  for (const segment of config.platform?.iommu_segments ?? [])
    if (segment >= segments) yield fault(`Invalid PCI segment id: ${segment}`);
  for (const rule of config.landlock_rules ?? [])
    if (!existsSync(rule.path))
      yield fault(`Path ${JSON.stringify(rule.path)} provided in landlock-rules does not exist`);
}

function* faults(config: VmConfig, invalid: string): Generator<ConfigFault> {
  const seen: Seen = { ids: new Set((config.rate_limit_groups ?? []).map((group) => group.id)), invalid };
  const shared = config.memory.shared || config.memory.hugepages;
  yield* payloadFaults(config);
  yield* diskFaults(config, seen, shared);
  yield* netFaults(config, seen, shared);
  for (const item of [...(config.fs ?? []), ...(config.generic_vhost_user ?? [])]) {
    yield* placeFaults(item, config);
    if (!shared) yield fault(sharedMemory);
    yield* itemFaults(item, seen);
  }
  const plain = function* (items: readonly DeviceItem[]): Generator<ConfigFault> {
    for (const item of items) {
      yield* placeFaults(item, config);
      yield* itemFaults(item, seen);
    }
  };
  yield* plain(config.pmem ?? []);
  yield* cpuAndMemoryFaults(config);
  if ((config.user_devices ?? []).length > 0 && !shared)
    yield fault('Using user devices requires using shared memory or huge pages');
  yield* plain([...(config.user_devices ?? []), ...(config.vdpa ?? [])]);
  yield* lateFaults(config, seen);
  yield* segmentFaults(config);
}

/** Throws the first fault, in the release's order and words, under the given heading ("The VM could not boot"). */
export const validateConfig = (config: VmConfig, heading: string, { invalidIdentifier }: VersionProfile): void => {
  const [first] = faults(config, invalidIdentifier);
  if (first)
    throw new ApiFailure(
      first.duplicate ? 'duplicate' : 'validation',
      heading,
      'Failed to validate config',
      ...first.chain,
    );
};
