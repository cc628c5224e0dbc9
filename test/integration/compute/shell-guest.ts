import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { SerialClient } from './serial-client';
import { efiDisk, grubConfig, initialRamDisk, newestKernel, signedLoaders } from './signed-guest';

const modules = [
  'drivers/virtio/virtio_ring.ko',
  'drivers/virtio/virtio.ko',
  'drivers/virtio/virtio_pci_legacy_dev.ko',
  'drivers/virtio/virtio_pci_modern_dev.ko',
  'drivers/virtio/virtio_pci.ko',
  'drivers/block/virtio_blk.ko',
  'net/core/failover.ko',
  'drivers/net/net_failover.ko',
  'drivers/net/virtio_net.ko',
];

/** What the guest does: every line that comes is a command of the shell. */
const init = `#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
exec </dev/ttyS0 >/dev/ttyS0 2>&1
stty -echo
for module in ${modules.map((path) => basename(path)).join(' ')}; do insmod /$module; done
echo "ready"
while read line; do
  eval "$line"
  echo "ended: $? end"
done
`;

/** Makes a raw disk with a Linux whose serial console is a shell: by UEFI, with disks and cards of VIRTIO. */
export const shellGuestDisk = async (directory: string): Promise<string> => {
  const work = await mkdtemp(join(directory, 'work-'));
  const { grub } = await signedLoaders(work);
  const kernel = await newestKernel();
  const folder = join('/lib/modules', basename(kernel).replace('vmlinuz-', ''), 'kernel');
  const ramDisk = await initialRamDisk(
    work,
    init,
    modules.map((path) => join(folder, path)),
  );
  const config = join(work, 'grub.cfg');
  await writeFile(config, grubConfig);
  const disk = join(directory, 'shell.raw');
  await efiDisk(work, disk, {
    'EFI/BOOT/BOOTX64.EFI': grub,
    'EFI/debian/grub.cfg': config,
    vmlinuz: kernel,
    'initrd.gz': ramDisk,
  });
  await rm(work, { recursive: true, force: true });
  return disk;
};

/** Seconds that the command took in the guest, which must succeed. */
export const timed = async (serial: SerialClient, command: string, timeoutMs = 120_000): Promise<number> => {
  const begun = performance.now();
  serial.type(`${command}\n`);
  const said = await serial.read(/^([^]*ended: \d+) end/, timeoutMs);
  if (!said.endsWith('ended: 0')) throw new Error(`the guest's command failed: ${said}`);
  return (performance.now() - begun) / 1000;
};
