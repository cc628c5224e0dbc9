import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Loads what the kernel needs, and sends back whatever comes to the port, for any number of streams. */
const script = (modules: readonly string[]): string => `#!/bin/sh
for module in ${modules.join(' ')}; do insmod /lib/vsock/$module; done
socat VSOCK-LISTEN:$1,fork EXEC:cat &
`;

const text = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' }).trim();

/**
 * An initramfs that lies beside another one (a kernel unpacks both): with it the test guest has `/bin/vsock-echo PORT`, a
 * socat behind a VIRTIO socket. Null where this machine has no socat to give to it.
 */
export const vsockListener = (): Buffer | null => {
  let socat: string;
  try {
    socat = text('which', 'socat');
  } catch {
    return null;
  }
  const root = mkdtempSync('/tmp/vcs-listener-');
  const put = (from: string, to: string): void => {
    mkdirSync(join(root, dirname(to)), { recursive: true });
    copyFileSync(from, join(root, to));
  };
  try {
    put(socat, '/bin/socat');
    for (const library of text('ldd', socat).match(/\/\S+/g) ?? []) put(library, library);
    const release = readdirSync('/boot').flatMap((name) => /^vmlinuz-(.*-cloud-amd64)$/.exec(name)?.[1] ?? []);
    const kernel = release.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1) ?? '';
    const modules =
      text('modprobe', '-S', kernel, '--show-depends', 'vmw_vsock_virtio_transport').match(/\/\S+/g) ?? [];
    const own = modules.filter((path) => path.includes('vsock'));
    for (const path of own) put(path, `/lib/vsock/${basename(path)}`);
    writeFileSync(join(root, 'bin/vsock-echo'), script(own.map((path) => basename(path))), { mode: 0o755 });
    const names = text('find', root, '-mindepth', '1', '-printf', '%P\\n');
    return execFileSync('cpio', ['-o', '-H', 'newc', '-R', '0:0', '--quiet'], {
      cwd: root,
      input: `${names}\n`,
      maxBuffer: 64 * 2 ** 20,
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};
