import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VmKernel } from '../../../src/modules/compute/node/drivers/vmm-driver';

const busybox = '/bin/busybox';
const cpio = '/usr/bin/cpio';
/** Says what the kernel was told, then echoes what is typed. */
const init = `#!/bin/busybox sh
/bin/busybox mkdir -p /proc /dev
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
exec < /dev/ttyS0 > /dev/ttyS0 2>&1
/bin/busybox stty raw -echo
echo "told <$(/bin/busybox cat /proc/cmdline)>"
exec /bin/busybox cat
`;

/** Debian's own kernel of this machine; null where there is none, or nothing to run on it. */
const debianKernel = (): string | null => {
  const found = readdirSync('/boot')
    .filter((file) => /^vmlinuz-.*-cloud-amd64$/.test(file))
    .sort()
    .at(-1);
  return found === undefined || ![busybox, cpio].every((need) => existsSync(need)) ? null : join('/boot', found);
};

/** A kernel with an initramfs that says what it was told, in the folder; null where this machine has no kernel. */
export const kernelGuest = (directory: string, commandLine: string): VmKernel | null => {
  const kernel = debianKernel();
  if (kernel === null) return null;
  const root = join(directory, 'root');
  mkdirSync(join(root, 'bin'), { recursive: true });
  copyFileSync(busybox, join(root, 'bin/busybox'));
  writeFileSync(join(root, 'init'), init, { mode: 0o755 });
  const path = join(directory, 'vmlinuz');
  const initramfs = join(directory, 'initrd');
  copyFileSync(kernel, path);
  execFileSync('sh', ['-c', `find . | ${cpio} -o -H newc --quiet > ../initrd`], { cwd: root });
  for (const file of [path, initramfs]) chmodSync(file, 0o444);
  return { path, initramfs, commandLine };
};
