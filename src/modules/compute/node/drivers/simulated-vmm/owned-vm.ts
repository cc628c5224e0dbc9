import { ApiFailure } from './api-failure';
import { openDisk } from './disk-image';
import { DiskLock } from './disk-locks';
import type { SimulatedGuest } from './simulated-guest';
import type { SimulationKnobs } from './knobs';
import { type DeviceItem, type DiskConfig, type VmConfig, deviceLists } from './vm-config';

interface TreeNode {
  id: string;
  resources: never[];
  parent?: string;
  children: string[];
  pci_bdf?: string;
}

const slotsPerSegment = 32;
const autoNames: Record<(typeof deviceLists)[number] | 'vsock', string> = {
  disks: '_disk',
  net: '_net',
  fs: '_fs',
  generic_vhost_user: '_generic_vhost_user',
  pmem: '_pmem',
  devices: '_vfio',
  user_devices: '_vfio_user',
  vdpa: '_vdpa',
  vsock: '_vsock',
};
export type DeviceList = keyof typeof autoNames;

/** Landlock lets the VMM at `/dev/net/tun` by itself, but at a tap's flags only by a rule. */
const openTaps = (config: VmConfig, heading: string, knobs: SimulationKnobs): void => {
  if (!config.landlock_enable || knobs.resources === 'none') return;
  for (const { tap } of config.net ?? []) {
    if (tap === null || config.landlock_rules?.some((rule) => `/sys/class/net/${tap}/`.startsWith(`${rule.path}/`)))
      continue;
    throw new ApiFailure(
      'internal',
      heading,
      'Error from device manager',
      'Cannot create virtio-net device',
      'Failed to open taps',
      'Failed to read the TAP flags from sysfs',
      'Permission denied (os error 13)',
    );
  }
};

/**
 * The VM object itself: from boot (or restore) to shutdown. Its devices, their PCI places and the locks on its disks.
 */
export class OwnedVm {
  state: 'Created' | 'Running' | 'Paused' = 'Created';
  guest: SimulatedGuest | null = null;
  /** RAM at boot, and with what was added to it since. */
  bootRam = 0;
  presentRam = 0;
  /** RAM growth operations since boot; there are eight slots. */
  growths = 0;
  /** While the guest has not given vCPUs back yet: how many there still are. */
  presentVcpus: number | null = null;
  readonly ejecting = new Set<string>();
  private readonly tree = new Map<string, TreeNode>();
  private readonly slots = new Set<string>();
  private readonly locks = new Map<string, DiskLock>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private autoId = 0;

  constructor(private readonly knobs: SimulationKnobs) {}

  /**
   * Makes every device of the configuration, assigning ids where there are none. Throws `ApiFailure` under `heading`.
   */
  build(config: VmConfig, heading: string): void {
    this.bootRam = this.presentRam = config.memory.size;
    this.tree.set('__serial', { id: '__serial', resources: [], children: [] });
    if (!['Off', 'Null'].includes(config.console.mode)) this.place({ id: '__console' }, heading);
    for (const disk of config.disks ?? []) openDisk(disk, heading, this.knobs);
    openTaps(config, heading, this.knobs);
    for (const list of deviceLists) for (const item of config[list] ?? []) this.plug(list, item, heading);
    this.place({ id: '__rng' }, heading);
    if (config.balloon) this.place({ id: '__balloon' }, heading);
    if (config.vsock) this.plug('vsock', config.vsock, heading);
    if (config.watchdog) this.place({ id: '__watchdog' }, heading);
  }

  /** Adds one device; returns where it went. */
  plug(list: DeviceList, item: DeviceItem, heading: string): { id: string; bdf: string } {
    item.id ??= `${autoNames[list]}${this.autoId++}`;
    return {
      id: item.id,
      bdf: this.place({ id: item.id, segment: item.pci_segment, slot: item.pci_device_id }, heading),
    };
  }

  lockDisks(disks: readonly DiskConfig[], heading: string): void {
    if (this.knobs.resources === 'none') return;
    for (const disk of disks) {
      if (disk.path === null || disk.id === null) continue;
      const mode = disk.readonly ? 'Read' : 'Write';
      const lock = DiskLock.take(disk.path, mode);
      if (!lock) {
        throw new ApiFailure(
          'internal',
          heading,
          'Error locking disk images: Another instance likely holds a lock',
          'Cannot lock images of all block devices',
          `Failed to get ${mode} lock for disk image: ${disk.path}`,
          'The file is already locked',
        );
      }
      this.locks.set(disk.id, lock);
    }
  }

  /** The guest is asked to let a device go; when it does, `ejected` is told. Its disk's lock is dropped at once. */
  eject(id: string, ejected: (bdf: string) => void): void {
    this.ejecting.add(id);
    this.unlock(id);
    if (this.knobs.ejectMs === null) return;
    this.after(this.knobs.ejectMs, () => {
      if (!this.ejecting.delete(id)) return;
      const node = this.tree.get(`_virtio-pci-${id}`);
      this.tree.delete(id);
      this.tree.delete(`_virtio-pci-${id}`);
      if (node?.pci_bdf !== undefined) this.slots.delete(node.pci_bdf);
      ejected(node?.pci_bdf ?? '');
    });
  }

  has(id: string): boolean {
    return this.tree.has(id);
  }

  deviceTree(): Record<string, TreeNode> {
    return Object.fromEntries(this.tree);
  }

  /** Runs something later, unless the VM is gone by then. */
  after(milliseconds: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      run();
    }, milliseconds);
    this.timers.add(timer);
  }

  dispose(): void {
    this.guest?.stop();
    for (const timer of this.timers) clearTimeout(timer);
    for (const id of [...this.locks.keys()]) this.unlock(id);
  }

  private unlock(id: string): void {
    this.locks.get(id)?.release();
    this.locks.delete(id);
  }

  private place(wanted: { id: string; segment?: number; slot?: number | null }, heading: string): string {
    const { id, segment = 0 } = wanted;
    if (this.tree.has(id))
      throw new ApiFailure(
        'internal',
        heading,
        'Error from device manager',
        `Invalid identifier as it is not unique: ${id}`,
      );
    const first = wanted.slot ?? 1;
    for (let slot = first; slot < slotsPerSegment; slot++) {
      const bdf = `${segment.toString(16).padStart(4, '0')}:00:${slot.toString(16).padStart(2, '0')}.0`;
      if (this.slots.has(bdf)) continue;
      this.slots.add(bdf);
      const parent = `_virtio-pci-${id}`;
      this.tree.set(parent, { id: parent, resources: [], children: [id], pci_bdf: bdf });
      this.tree.set(id, { id, resources: [], parent, children: [] });
      return bdf;
    }
    throw new ApiFailure(
      'internal',
      heading,
      'Error from device manager',
      'Failed to find an available PCI device ID',
      'Could not find an available device slot on the PCI bus',
    );
  }
}
