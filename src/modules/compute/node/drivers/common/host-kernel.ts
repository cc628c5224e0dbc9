import { constants } from 'node:fs';
import { access, chmod, copyFile, readdir, stat } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';

const readable = (path: string): Promise<boolean> =>
  access(path, constants.R_OK).then(
    () => true,
    () => false,
  );

/** A kernel to try guests with: the running one's image, or else the newest under /boot; null when none can be read. */
export const findKernel = async (): Promise<string | null> => {
  const own = `/boot/vmlinuz-${release()}`;
  if (await readable(own)) return own;
  const names = (await readdir('/boot').catch(() => [])).filter((name) => name.startsWith('vmlinuz-')).sort();
  const newest = names.at(-1);
  return newest !== undefined && (await readable(join('/boot', newest))) ? join('/boot', newest) : null;
};

/** A copy that anyone may read: some distributions keep their kernels from all but root. */
export const copyKernel = async (kernel: string, directory: string): Promise<string> => {
  const copy = join(directory, 'kernel');
  await copyFile(kernel, copy);
  await chmod(copy, 0o444);
  return copy;
};

/** Why /dev/kvm cannot be used at all; null when it opens (which does not say that it boots guests). */
export const kvmObstacle = async (): Promise<string | null> => {
  const code = await access('/dev/kvm', constants.R_OK | constants.W_OK).then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? 'error',
  );
  if (code === 'ENOENT') return 'there is no /dev/kvm';
  if (code !== null) return `/dev/kvm cannot be opened (${code})`;
  // VMMs are not root: they are put into the group that may use it.
  const { mode } = await stat('/dev/kvm');
  return (mode & 0o060) === 0o060 || (mode & 0o006) === 0o006
    ? null
    : '/dev/kvm is for root alone: chgrp kvm /dev/kvm && chmod 660 /dev/kvm';
};

/**
 * What a kernel prints first from 64-bit code with paging on; one that stops in its real-mode set-up, as on hosts with
 * half a KVM, never does.
 */
export const kernelBanner = 'Linux version';
export const trialCommandLine = 'console=ttyS0 earlyprintk=ttyS0 panic=-1';
