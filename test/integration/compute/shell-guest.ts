import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { VmKernel } from '../../../src/modules/compute/node/drivers/vmm-driver';
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
const init = (loaded: readonly string[]): string => `#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
exec </dev/ttyS0 >/dev/ttyS0 2>&1
stty -echo
for module in ${loaded.map((path) => basename(path)).join(' ')}; do insmod /$module; done
echo "ready"
while read line; do
  eval "$line"
  echo "ended: $? end"
done
`;

const shellRamDisk = (work: string, kernel: string, loaded: readonly string[]): Promise<string> => {
  const folder = join('/lib/modules', basename(kernel).replace('vmlinuz-', ''), 'kernel');
  return initialRamDisk(
    work,
    init(loaded),
    loaded.map((path) => join(folder, path)),
  );
};

/**
 * The same guest without a disk, booted by its kernel.
 * @param more modules that it loads beside those of all guests, by their paths below the kernel's folder
 */
export const shellGuestKernel = async (directory: string, more: readonly string[]): Promise<VmKernel> => {
  const work = await mkdtemp(join(directory, 'work-'));
  const kernel = await newestKernel();
  const [path, initramfs] = [join(directory, 'vmlinuz'), join(directory, 'initrd.gz')];
  await copyFile(kernel, path);
  await copyFile(await shellRamDisk(work, kernel, [...modules, ...more]), initramfs);
  for (const file of [path, initramfs]) await chmod(file, 0o444);
  await rm(work, { recursive: true, force: true });
  const commandLine =
    'console=ttyS0,115200 quiet loglevel=1 mitigations=off tsc=reliable no_timer_check cryptomgr.notests i8042.noaux';
  return { path, initramfs, commandLine };
};

/** Makes a raw disk with a Linux whose serial console is a shell: by UEFI, with disks and cards of VIRTIO. */
export const shellGuestDisk = async (directory: string): Promise<string> => {
  const work = await mkdtemp(join(directory, 'work-'));
  const { grub } = await signedLoaders(work);
  const kernel = await newestKernel();
  const ramDisk = await shellRamDisk(work, kernel, modules);
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
