import { ApiFailure } from './api-failure';
import { openDisk } from './disk-image';
import type { DeviceList } from './owned-vm';
import type { SimulatedVmm } from './simulated-vmm';
import { openTap } from './taps';
import { validateConfig } from './validation';
import { deviceItems, deviceLists, type DeviceItem, type NetConfig, randomMac, type VmConfig } from './vm-config';

const nouns: Record<DeviceList, string> = {
  disks: 'disk',
  net: 'network device',
  fs: 'fs',
  generic_vhost_user: 'generic vhost-user device',
  pmem: 'pmem device',
  devices: 'device',
  user_devices: 'user device',
  vdpa: 'vDPA device',
  vsock: 'vsock device',
};

/** What the ids of the VMM's own devices begin with; they are called by the type that follows. */
const ownPrefix = '__';

const withItem = (config: VmConfig, list: DeviceList, item: DeviceItem): VmConfig =>
  list === 'vsock'
    ? { ...config, vsock: item as VmConfig['vsock'] }
    : { ...config, [list]: [...(config[list] ?? []), item] };

/** add-*: into the stored configuration, and into the VM if there is one (then the answer says where; else null). */
export const addDevice = (
  vmm: SimulatedVmm,
  list: DeviceList,
  item: DeviceItem,
): { id: string; bdf: string } | null => {
  const heading = `The ${nouns[list]} could not be added to the VM`;
  const { config, vm } = vmm;
  if (!config) throw new ApiFailure('missing', heading, 'VM is not created');
  if (list === 'vsock' && config.vsock && vm)
    throw new ApiFailure('internal', heading, 'Too many virtio-vsock devices');
  if (list === 'net' && vmm.profile.drawsMacs) (item as NetConfig).mac ??= randomMac();
  const changed = withItem(config, list, item);
  validateConfig(changed, heading, vmm.profile);
  vmm.needUnlocked(heading);
  if (!vm) {
    vmm.config = changed;
    return null;
  }
  if (item.iommu && !(config.platform?.iommu_segments ?? []).includes(item.pci_segment))
    throw new ApiFailure('internal', heading, 'Error from device manager', 'Cannot hotplug device behind vIOMMU');
  const disk = list === 'disks' ? changed.disks?.at(-1) : undefined;
  if (disk) openDisk(disk, heading, vmm.knobs, vmm.profile);
  if (list === 'net') openTap(item as NetConfig, changed, heading, vmm.knobs);
  const place = vm.plug(list, item, heading);
  try {
    if (disk) vm.lockDisks([disk], heading, 'Error from device manager');
  } catch (error) {
    vm.unplug(place.id);
    throw error;
  }
  vmm.config = changed;
  vmm.activated(place.id);
  return place;
};

/** remove-device: gone from the configuration at once, from the VM when the guest lets it go. */
export const removeDevice = (vmm: SimulatedVmm, id: string): void => {
  const heading = 'The device could not be removed from the VM';
  const { config, vm } = vmm;
  vmm.needUnlocked(heading);
  if (!config) throw new ApiFailure('missing', heading, 'VM is not created');
  const known = deviceItems(config).some((item) => item.id === id);
  if (!vm) {
    if (!known) throw new ApiFailure('unknown-device', heading, `No device with id "${id}" to remove`);
    strip(config, id);
    return;
  }
  const again = vm.ejecting.has(id);
  if (!vm.has(id) || vm.isPlace(id) || (again && !vmm.profile.retriesRemoval))
    throw new ApiFailure(
      'unknown-device',
      heading,
      'Error from device manager',
      `Failed to find device corresponding to the given identifier: ${id}`,
    );
  if (!known && !again)
    throw new ApiFailure(
      'internal',
      heading,
      'Error from device manager',
      vm.isPci(id)
        ? `Not allowed to remove this type of device from the VM: ${id.slice(ownPrefix.length)}`
        : 'Could not find the node in the device tree',
    );
  strip(config, id);
  vm.eject(id, (bdf) => vmm.events.emit('vm', 'device-removed', { id, bdf }));
};

const strip = (config: VmConfig, id: string): void => {
  const target: Record<string, unknown> = config;
  for (const list of deviceLists) {
    const items: readonly DeviceItem[] | null = config[list];
    if (items) target[list] = items.filter((item) => item.id !== id);
  }
  if (config.vsock?.id === id) config.vsock = null;
};
