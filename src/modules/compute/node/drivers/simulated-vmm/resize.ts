import { closeSync, openSync, readSync, truncateSync, writeSync } from 'node:fs';
import { ApiFailure } from './api-failure';
import type { OwnedVm } from './owned-vm';
import type { SimulatedVmm } from './simulated-vmm';

const hotplugUnit = 128 * 1024 * 1024;
const hotplugSlots = 8;

export interface Resize {
  desired_vcpus: number | null;
  desired_ram: number | null;
  desired_balloon: number | null;
}

const heading = 'The VM could not be resized';
const cpuFault = (kind: 'internal' | 'pending', text: string): ApiFailure =>
  new ApiFailure(kind, heading, 'Error from CPU manager', text);
const memoryFault = (text: string): ApiFailure => new ApiFailure('internal', heading, 'Memory manager error', text);

const resizeVcpus = (vmm: SimulatedVmm, desired: number): void => {
  const { config, vm } = vmm;
  if (!config || !vm) return;
  const present = vm.presentVcpus ?? config.cpus.boot_vcpus;
  if (desired !== present) {
    if (desired === 0) throw cpuFault('internal', 'Requested zero vCPUs');
    if (vm.vcpusLeaving) throw cpuFault('pending', 'vCPUs are being removed');
    if (desired > config.cpus.max_vcpus) throw cpuFault('internal', 'Requested vCPUs exceed maximum');
    if (desired > present) vm.presentVcpus = desired;
    else leave(vmm, vm, present, desired);
  }
  // Also where there is nothing to do, as of one whose guest was asked for less before.
  config.cpus.boot_vcpus = desired;
};

/** The guest ejects them when it likes, whatever is configured by then. */
const leave = ({ knobs }: SimulatedVmm, vm: OwnedVm, present: number, desired: number): void => {
  vm.presentVcpus = present;
  vm.vcpusLeaving = true;
  if (knobs.onlineMs === null) return;
  vm.after(knobs.onlineMs, () => {
    vm.presentVcpus = desired;
    vm.vcpusLeaving = false;
  });
};

const resizeRam = (vmm: SimulatedVmm, desired: number): void => {
  const { config, vm } = vmm;
  if (!config || !vm) return;
  const { memory } = config;
  if (memory.zones !== null && memory.zones.length > 0)
    throw memoryFault('Impossible to resize guest memory if it is backed by user defined memory regions');
  const room = memory.hotplug_size ?? 0;
  if (memory.hotplug_method === 'VirtioMem') {
    if (desired < vm.bootRam)
      throw memoryFault(`Invalid resize request: desired_size = ${desired} below boot size = ${vm.bootRam}`);
    if (desired - vm.bootRam > room) throw memoryFault('Not enough space in the hotplug RAM region');
    memory.hotplugged_size = desired > vm.bootRam ? desired - vm.bootRam : null;
    return;
  }
  if (desired > vm.presentRam) {
    if (vm.growths >= hotplugSlots) throw memoryFault('No ACPI slot available');
    if ((desired - vm.presentRam) % hotplugUnit !== 0)
      throw memoryFault('The requested hotplug memory addition is not a valid size');
    if (desired - vm.bootRam > room) throw memoryFault('Not enough space in the hotplug RAM region');
    vm.growths++;
    vm.presentRam = desired;
  }
  // Less takes effect at the next boot.
  memory.size = desired;
};

/** vm.resize: vCPUs, then RAM, then balloon; what was done stays done when a later part fails. */
export const resize = (vmm: SimulatedVmm, wanted: Resize): void => {
  const { config, vm } = vmm;
  if (!config) throw new ApiFailure('missing', heading, 'VM is not created');
  vmm.needUnlocked(heading);
  if (!vm) {
    if (wanted.desired_vcpus !== null) config.cpus.boot_vcpus = wanted.desired_vcpus;
    if (wanted.desired_ram !== null) config.memory.size = wanted.desired_ram;
    if (wanted.desired_balloon !== null && config.balloon) config.balloon.size = wanted.desired_balloon;
    return;
  }
  vmm.events.emit('vm', 'resizing');
  if (wanted.desired_vcpus !== null) resizeVcpus(vmm, wanted.desired_vcpus);
  if (wanted.desired_ram !== null) resizeRam(vmm, wanted.desired_ram);
  if (wanted.desired_balloon !== null) {
    if (!config.balloon)
      throw new ApiFailure(
        'internal',
        heading,
        'Error from device manager',
        "Missing virtio-balloon, can't proceed as expected",
      );
    config.balloon.size = wanted.desired_balloon;
  }
  vmm.events.emit('vm', 'resized');
};

/** vm.resize-disk: raw files both ways, qcow2 only upwards. */
export const resizeDisk = (vmm: SimulatedVmm, id: string, size: number): void => {
  const title = 'The disk could not be resized';
  const { config, vm } = vmm;
  if (!config) throw new ApiFailure('missing', title, 'VM is not created');
  vmm.needUnlocked(title);
  if (!vm) throw new ApiFailure('internal', title, 'Failed resizing a disk image');
  const disk = config.disks?.find((item) => item.id === id);
  if (!disk)
    throw new ApiFailure(
      'unknown-device',
      title,
      'Error from device manager',
      `Failed to find device corresponding to the given identifier: ${id}`,
    );
  if (size % 512 !== 0)
    throw new ApiFailure(
      'internal',
      title,
      'Error from device manager',
      'Disk resize error',
      'Disk image size is not a multiple of 512',
    );
  if (disk.path === null || vmm.knobs.resources === 'none') return;
  if (disk.image_type === 'Qcow2') resizeQcow2(disk.path, size, title);
  else truncateSync(disk.path, size);
};

/** Where a qcow2 image's header holds the size that the guest sees, in bytes. */
const qcow2SizeAt = 24;

const resizeQcow2 = (path: string, size: number, title: string): void => {
  const fd = openSync(path, 'r+');
  try {
    const field = Buffer.alloc(8);
    readSync(fd, field, 0, field.length, qcow2SizeAt);
    if (BigInt(size) < field.readBigUInt64BE())
      throw new ApiFailure(
        'internal',
        title,
        'Error from device manager',
        'Disk resize error',
        'Shrinking QCOW images is not supported',
      );
    field.writeBigUInt64BE(BigInt(size));
    writeSync(fd, field, 0, field.length, qcow2SizeAt);
  } finally {
    closeSync(fd);
  }
};

/** vm.resize-zone. */
export const resizeZone = (vmm: SimulatedVmm, id: string, ram: number): void => {
  const title = 'The memory zone could not be resized';
  const { config, vm } = vmm;
  if (!config) throw new ApiFailure('missing', title, 'VM is not created');
  vmm.needUnlocked(title);
  const zone = config.memory.zones?.find((item) => item.id === id);
  if (!zone) throw new ApiFailure('internal', title, 'Failed resizing a memory zone');
  if (!vm) {
    zone.size = ram;
    return;
  }
  if (ram < zone.size)
    throw new ApiFailure(
      'internal',
      title,
      'Memory manager error',
      `Invalid resize request: desired_size = ${ram} below boot size = ${zone.size}`,
    );
  if (zone.hotplug_size === null)
    throw new ApiFailure('internal', title, 'Memory manager error', 'Unknown memory zone');
  zone.hotplugged_size = ram - zone.size;
};
