import { existsSync, readFileSync } from 'node:fs';
import { ApiFailure } from './api-failure';
import { openDisk } from './disk-image';
import { DiskLock } from './disk-locks';
import type { EventMonitor } from './event-monitor';
import type { SimulatedGuest } from './simulated-guest';
import type { SimulationKnobs } from './knobs';
import { PciBus, type TreeNode } from './pci-bus';
import type { VersionProfile } from './profile';
import { openTap } from './taps';
import {
  type deviceLists,
  type DeviceItem,
  type DiskConfig,
  type NetConfig,
  randomMac,
  type VmConfig,
} from './vm-config';

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
/** Sizes of persistent memory are multiples of this, in bytes. */
const pmemUnit = 2 * 1024 * 1024;
const noSuchFile = 'No such file or directory (os error 2)';
export type DeviceList = keyof typeof autoNames;

/** The host's own address of a tap, or of one that the VMM would have made. */
const hostMac = (tap: string | null): string => {
  try {
    return readFileSync(`/sys/class/net/${tap}/address`, 'utf8').trim();
  } catch {
    return randomMac();
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
  /** How many there are since the first change; null: as many as are configured. */
  presentVcpus: number | null = null;
  /** The guest was asked to give vCPUs back, and has not yet. */
  vcpusLeaving = false;
  /** The list of the configuration whose devices are being made; a fault among them loses it. */
  making: (typeof deviceLists)[number] | null = null;
  readonly ejecting = new Set<string>();
  private readonly bus: PciBus;
  private readonly locks = new Map<string, DiskLock>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private autoId = 0;

  constructor(
    private readonly knobs: SimulationKnobs,
    private readonly profile: VersionProfile,
    addressBits: number,
  ) {
    this.bus = new PciBus(addressBits);
  }

  /**
   * Makes every device of the configuration, assigning ids where there are none. Throws `ApiFailure` under `heading`.
   */
  build(config: VmConfig, heading: string): void {
    this.bootRam = this.presentRam = config.memory.size;
    if (config.serial.mode !== 'Off') this.bus.addLegacy('__serial');
    this.bus.addLegacy('__ioapic');
    if (!['Off', 'Null'].includes(config.console.mode)) this.bus.add({ id: '__console' }, heading);
    const plugAll = (...lists: (typeof deviceLists)[number][]): void => {
      for (const list of lists) {
        this.making = list;
        if (list === 'disks') for (const disk of config.disks ?? []) openDisk(disk, heading, this.knobs, this.profile);
        if (list === 'net') for (const net of config.net ?? []) openTap(net, config, heading, this.knobs);
        if (list === 'pmem') this.needMemoryFiles(config, heading);
        for (const item of config[list] ?? []) this.plug(list, item, heading, true);
      }
      this.making = null;
    };
    plugAll('disks', 'net');
    this.needEntropy(config, heading);
    this.bus.add({ id: '__rng' }, heading);
    plugAll('generic_vhost_user', 'fs', 'pmem');
    if (config.vsock) this.plug('vsock', config.vsock, heading);
    if (config.balloon) this.bus.add({ id: '__balloon' }, heading);
    if (config.watchdog) this.bus.add({ id: '__watchdog' }, heading);
    plugAll('vdpa');
    if (config.rtc) this.bus.add({ id: '__rtc' }, heading);
    plugAll('devices', 'user_devices');
  }

  private needEntropy({ rng }: VmConfig, heading: string): void {
    if (this.knobs.resources === 'real' && !existsSync(rng.src))
      throw this.fault(heading, 'Cannot create virtio-rng device', noSuchFile);
  }

  private needMemoryFiles({ pmem }: VmConfig, heading: string): void {
    if (this.knobs.resources === 'none') return;
    for (const { file, size } of pmem ?? []) {
      if (!existsSync(file)) throw this.fault(heading, 'Cannot open persistent memory file', noSuchFile);
      if (size !== null && size % pmemUnit !== 0)
        throw this.fault(heading, 'Trying to use a size that is not multiple of 2MiB');
    }
  }

  private fault(heading: string, ...chain: string[]): ApiFailure {
    return new ApiFailure('internal', heading, 'Error from device manager', ...chain);
  }

  /** Adds one device; returns where it went. `booting`: firmware may look for it. */
  plug(list: DeviceList, item: DeviceItem, heading: string, booting = false): { id: string; bdf: string } {
    item.id ??= this.freeName(autoNames[list]);
    const { id, pci_segment: segment, pci_device_id: slot } = item;
    const bdf = this.bus.add({ id, segment, slot, low: booting && list === 'disks' }, heading);
    if (list === 'net') this.address(item as NetConfig);
    return { id, bdf };
  }

  /** Takes a device out that the guest has not seen. */
  unplug(id: string): void {
    this.bus.remove(id);
  }

  lockDisks(disks: readonly DiskConfig[], ...heading: string[]): void {
    if (this.knobs.resources === 'none') return;
    for (const disk of disks) {
      if (disk.path === null || disk.id === null) continue;
      const mode = disk.readonly ? 'Read' : 'Write';
      const lock = DiskLock.take(disk.path, mode);
      if (!lock) {
        throw new ApiFailure(
          'internal',
          ...heading,
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
      if (this.ejecting.delete(id)) ejected(this.bus.remove(id));
    });
  }

  /** The guest stands still. Announced even where it does already. */
  pause(events: EventMonitor): void {
    events.emit('vm', 'pausing');
    if (this.state === 'Paused') return;
    this.state = 'Paused';
    this.guest?.pause();
    events.emit('vm', 'paused');
  }

  resume(events: EventMonitor): void {
    events.emit('vm', 'resuming');
    if (this.state === 'Running') return;
    this.state = 'Running';
    this.guest?.resume();
    events.emit('vm', 'resumed');
  }

  releaseDisks(): void {
    for (const id of [...this.locks.keys()]) this.unlock(id);
  }

  has(id: string): boolean {
    return this.bus.has(id);
  }

  /** Whether the device is on the bus, and so can be taken off it. */
  isPci(id: string): boolean {
    return this.bus.isPci(id);
  }

  /** Whether it is the place itself, which no item of the configuration has for an id. */
  isPlace(id: string): boolean {
    return this.bus.nodes()[id]?.pci_bdf !== undefined;
  }

  deviceTree(): Record<string, TreeNode> {
    return this.bus.nodes();
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
    this.releaseDisks();
  }

  private unlock(id: string): void {
    this.locks.get(id)?.release();
    this.locks.delete(id);
  }

  private address(net: NetConfig): void {
    net.mac ??= randomMac();
    if (this.profile.tellsHostMac) net.host_mac ??= hostMac(net.tap);
  }

  private freeName(prefix: string): string {
    let name = `${prefix}${this.autoId++}`;
    while (this.bus.has(name)) name = `${prefix}${this.autoId++}`;
    return name;
  }
}
