import type { VmmDriverEntry } from '../vmm-driver-entry';
import { SimulatedDriver } from './simulated.driver';

export const simulatedEntry: VmmDriverEntry = {
  kind: 'simulated',
  capabilities: [
    'serial',
    'power-button',
    'reset',
    'pause',
    'nmi',
    'suspend',
    'core-dump',
    'nic-hotplug',
    'disk-hotplug',
    'image-kernel',
    'cpu-hotplug',
    'memory-hotplug',
    'bios',
    'uefi',
    'disk-limits',
    'nic-limits',
    'huge-pages',
    'shared-memory',
    'balloon',
    'vsock',
  ],
  // Only taken when nothing real is there.
  rank: () => 3,
  make: ({ config: { simulated } }) => new SimulatedDriver(simulated),
};
