import type { VmmCapability } from '../../../contract/vmm-capabilities';
import type { Firmware } from '../vmm-driver';
import type { QemuFacts } from './qemu-probe';
import type { UefiFirmware } from './uefi-firmware';

export const firmwares = (uefi: UefiFirmware | null): Firmware[] => (uefi === null ? ['bios'] : ['bios', 'uefi']);

/** Of what may be asked of a machine. */
export const machineCapabilities = ({
  secureUefi,
  tpm,
  watchdog,
  balloon,
  vsock,
  nicLimits,
  cpuModels,
  virtiofsd,
}: Pick<
  QemuFacts,
  'secureUefi' | 'tpm' | 'watchdog' | 'balloon' | 'vsock' | 'nicLimits' | 'cpuModels' | 'virtiofsd'
>): VmmCapability[] => [
  ...(secureUefi === null ? [] : (['secure-boot'] as const)),
  ...(tpm ? (['tpm'] as const) : []),
  ...(watchdog ? (['watchdog-restart', 'watchdog-stop', 'watchdog-notify'] as const) : []),
  ...(balloon ? (['balloon'] as const) : []),
  ...(vsock ? (['vsock'] as const) : []),
  'panic-policy',
  'disk-limits',
  'dedicated-cpus',
  'numa-nodes',
  ...(nicLimits ? (['nic-limits'] as const) : []),
  'huge-pages',
  'shared-memory',
  ...(cpuModels.length > 0 ? (['cpu-models'] as const) : []),
  ...(virtiofsd === null ? [] : (['virtio-fs'] as const)),
];

/** All that it can do on a host of which this is known. */
export const qemuCapabilities = (facts: QemuFacts): VmmCapability[] => [
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
  ...firmwares(facts.uefi),
  ...machineCapabilities(facts),
  ...(facts.screen ? (['vnc'] as const) : []),
];
