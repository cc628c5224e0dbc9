import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { exec } from '../../../src/core/host/processes/exec';

const run = (program: string, args: readonly string[], cwd: string): Promise<{ stdout: string }> =>
  exec(program, args, { timeoutMs: 120_000, cwd });

/**
 * What the guest does: says whether its kernel was started by Secure Boot, and at each key what its TPM answers to
 * TPM2_ReadClock.
 */
const init = `#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
exec </dev/ttyS0 >/dev/ttyS0 2>&1
stty -echo
echo "boot: $(dmesg | grep -i -c 'secure boot enabled')"
echo "tpm: $(cat /sys/class/tpm/tpm0/tpm_version_major 2>/dev/null || echo none)"
while read line; do
  exec 3<>/dev/tpm0
  printf '\\200\\001\\000\\000\\000\\012\\000\\000\\001\\201' >&3
  echo "clock: $(dd bs=4096 count=1 <&3 2>/dev/null | od -An -v -tx1 | tr -d ' \\n') end"
  exec 3>&-
done
`;

export const grubConfig = `set timeout=0
menuentry guest {
  linux /vmlinuz console=ttyS0 quiet loglevel=3
  initrd /initrd.gz
}
`;

/** Boot loaders that Debian had signed, by a key that every UEFI with Secure Boot trusts; not installed here. */
export const signedLoaders = async (directory: string): Promise<{ shim: string; grub: string }> => {
  await run(
    'apt-get',
    ['download', '-o', 'APT::Sandbox::User=root', 'shim-signed', 'grub-efi-amd64-signed'],
    directory,
  );
  for (const name of (await readdir(directory)).filter((file) => file.endsWith('.deb')))
    await run('dpkg-deb', ['-x', name, 'loaders'], directory);
  const usr = join(directory, 'loaders/usr/lib');
  return { shim: join(usr, 'shim/shimx64.efi.signed'), grub: join(usr, 'grub/x86_64-efi-signed/grubx64.efi.signed') };
};

export const newestKernel = async (): Promise<string> => {
  const [kernel] = (await readdir('/boot'))
    .filter((name) => /^vmlinuz-.*cloud-amd64$/.test(name))
    .sort()
    .reverse();
  if (kernel === undefined) throw new Error('there is no linux-image-cloud-amd64 on this machine');
  return join('/boot', kernel);
};

/** @param init what it does, in busybox's shell  @param files others that it has, beside each other in its root */
export const initialRamDisk = async (
  directory: string,
  init: string,
  files: readonly string[] = [],
): Promise<string> => {
  const root = join(directory, 'root');
  await mkdir(join(root, 'bin'), { recursive: true });
  await copyFile('/bin/busybox', join(root, 'bin/busybox'));
  await writeFile(join(root, 'init'), init);
  for (const name of ['init', 'bin/busybox']) await chmod(join(root, name), 0o755);
  for (const file of files) await copyFile(file, join(root, basename(file)));
  const names = ['init', 'bin', 'bin/busybox', ...files.map((file) => basename(file))];
  await writeFile(join(directory, 'names'), names.map((name) => `${name}\n`).join(''));
  await exec('/bin/sh', ['-c', 'cd root && cpio --quiet -o -H newc <../names | gzip -1 >../initrd.gz'], {
    timeoutMs: 60_000,
    cwd: directory,
  });
  return join(directory, 'initrd.gz');
};

/** A raw disk whose EFI system partition holds these files, by their paths in it. */
export const efiDisk = async (
  directory: string,
  path: string,
  files: Readonly<Record<string, string>>,
): Promise<void> => {
  const firstSector = 2048;
  await writeFile(path, '');
  await truncate(path, 96 * 1024 * 1024);
  await writeFile(join(directory, 'table'), `label: gpt\nstart=${firstSector}, type=uefi\n`);
  await exec('/bin/sh', ['-c', 'sfdisk --quiet "$1" <table', 'sh', path], { timeoutMs: 60_000, cwd: directory });
  const partition = `${path}@@${firstSector * 512}`;
  await run('mformat', ['-i', partition, '-T', String(90 * 2048), '-h', '64', '-s', '32', '-F', '::'], directory);
  const folders = ['EFI', 'EFI/BOOT', 'EFI/debian'].map((name) => `::/${name}`);
  await run('mmd', ['-i', partition, ...folders], directory);
  for (const [name, from] of Object.entries(files))
    await run('mcopy', ['-i', partition, from, `::/${name}`], directory);
};

/**
 * Makes two disks with one kernel: `signed` is started by a chain that Debian had signed, `unsigned` by the kernel alone,
 * which no key of the firmware has signed.
 */
export const signedGuestDisks = async (directory: string): Promise<{ signed: string; unsigned: string }> => {
  const work = await mkdtemp(join(directory, 'work-'));
  const { shim, grub } = await signedLoaders(work);
  const [kernel, ramDisk] = [await newestKernel(), await initialRamDisk(work, init)];
  const config = join(work, 'grub.cfg');
  await writeFile(config, grubConfig);
  const [signed, unsigned] = [join(directory, 'signed.raw'), join(directory, 'unsigned.raw')];
  await efiDisk(work, signed, {
    'EFI/BOOT/BOOTX64.EFI': shim,
    'EFI/BOOT/grubx64.efi': grub,
    'EFI/debian/grub.cfg': config,
    vmlinuz: kernel,
    'initrd.gz': ramDisk,
  });
  await efiDisk(work, unsigned, { 'EFI/BOOT/BOOTX64.EFI': kernel });
  await rm(work, { recursive: true, force: true });
  return { signed, unsigned };
};
