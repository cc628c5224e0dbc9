import type { VmmDriverEntry } from '../vmm-driver-entry';
import { findFirmware } from './ch-firmware';
import { CloudHypervisorDriver } from './cloud-hypervisor.driver';

export const cloudHypervisorEntry: VmmDriverEntry = {
  kind: 'cloud-hypervisor',
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
    'landlock',
    'disk-limits',
    'nic-limits',
    'huge-pages',
    'shared-memory',
    'dedicated-cpus',
    'numa-nodes',
    'uefi',
    'direct-kernel',
    'watchdog-restart',
    'panic-policy',
    'balloon',
    'vsock',
  ],
  rank: () => 0,
  make: ({ config: { cloudHypervisor }, cacheDir, sandbox, log }) => {
    const { binary, firmware, kernel, cmdline } = cloudHypervisor;
    const found = firmware === '' && kernel === '' ? findFirmware(binary) : firmware;
    return new CloudHypervisorDriver({ binary, payload: { firmware: found, kernel, cmdline }, cacheDir, sandbox }, log);
  },
};
