/**
 * What a VMM driver can do, by the words that hosts report, with what it is for people. A driver declares what its own
 * code does, not what its VMM could: a word without a driver is one that nobody does yet.
 */
const vmmCapabilities = {
  serial: 'serial console',
  'power-button': 'power button',
  reset: 'hard reset',
  pause: 'pause and resume',
  nmi: 'non-maskable interrupts',
  suspend: 'suspend to disk',
  'core-dump': 'core dumps of the guest’s memory',
  smbios: 'firmware tables that lead guests to their metadata',
  'disk-locks': 'locks on disks',
  landlock: 'confined by Landlock',
  bios: 'boots by BIOS',
  uefi: 'boots by UEFI',
  'secure-boot': 'Secure Boot',
  tpm: 'TPM 2.0',
  balloon: 'a memory balloon',
  vsock: 'streams to ports of its guest (vsock)',
  'watchdog-restart': 'a watchdog that restarts',
  'watchdog-stop': 'a watchdog that stops',
  'watchdog-notify': 'a watchdog that only tells',
  'panic-policy': 'a policy for panics',
  'direct-kernel': 'boots a kernel of the host',
  'image-kernel': 'boots by the kernel of an image',
  vnc: 'graphical console (VNC)',
  'disk-hotplug': 'disks attached while it runs',
  'nic-hotplug': 'NICs attached while it runs',
  'cpu-hotplug': 'vCPUs added while it runs',
  'memory-hotplug': 'memory added while it runs',
  'disk-limits': 'limits of how fast disks are',
  'nic-limits': 'limits of how fast NICs are',
  'huge-pages': 'memory of huge pages',
  'shared-memory': 'shared memory',
  'cpu-models': 'models of CPUs',
  'dedicated-cpus': 'dedicated CPUs',
  'numa-nodes': 'NUMA nodes of the host',
  'virtio-fs': 'shares (virtio-fs)',
  snapshot: 'snapshots of a running machine',
  'live-migration': 'moves to another host while it runs',
} as const;

export type VmmCapability = keyof typeof vmmCapabilities;

/** In words; one that this build does not know stands for itself. */
export const capabilityInWords = (name: string): string =>
  Object.hasOwn(vmmCapabilities, name) ? vmmCapabilities[name as VmmCapability] : name;
