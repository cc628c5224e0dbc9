import type { VmmDriverEntry } from '../vmm-driver-entry';
import { QemuDriver } from './qemu.driver';

export const qemuEntry: VmmDriverEntry = {
  kind: 'qemu',
  capabilities: [
    'serial',
    'power-button',
    'reset',
    'pause',
    'nmi',
    'nic-hotplug',
    'disk-hotplug',
    'cpu-hotplug',
    'memory-hotplug',
    'suspend',
    'core-dump',
    'smbios',
    'disk-locks',
    'image-kernel',
    'bios',
    'uefi',
    'secure-boot',
    'tpm',
    'balloon',
    'watchdog-restart',
    'watchdog-stop',
    'watchdog-notify',
    'panic-policy',
    'disk-limits',
    'nic-limits',
    'huge-pages',
    'shared-memory',
    'vnc',
  ],
  rank: ({ accel }) => (accel === 'kvm' ? 1 : 2),
  make: ({ config: { qemu, accel }, cacheDir, sandbox, log }) =>
    new QemuDriver({ binary: qemu.binary, accel, cacheDir, sandbox }, log),
};
