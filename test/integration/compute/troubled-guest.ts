import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exec } from '../../../src/core/host/processes/exec';

const run = (program: string, args: readonly string[], cwd: string): Promise<{ stdout: string }> =>
  exec(program, args, { timeoutMs: 120_000, cwd });

/** Its drivers, in the order in which they need each other. */
const drivers = ['watchdog/watchdog', 'watchdog/i6300esb', 'misc/pvpanic/pvpanic', 'misc/pvpanic/pvpanic-mmio'];

/** What the guest does: says `ready`, and what became of the words that it was told. The watchdog waits four seconds. */
const init = `#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
exec </dev/ttyS0 >/dev/ttyS0 2>&1
stty -echo
insmod /watchdog.ko
insmod /i6300esb.ko heartbeat=4
insmod /pvpanic.ko
insmod /pvpanic-mmio.ko
echo ready
while read word; do
  case $word in
    hang) exec 9>/dev/watchdog; echo hangs ;;
    panic) echo panics; echo c >/proc/sysrq-trigger ;;
    *) echo "heard $word" ;;
  esac
done
`;

const config = `DEFAULT linux
PROMPT 0
TIMEOUT 0
LABEL linux
  LINUX /vmlinuz
  INITRD /initrd.gz
  APPEND console=ttyS0,115200 quiet loglevel=1 mitigations=off tsc=reliable no_timer_check cryptomgr.notests i8042.noaux lpj=4000000
`;

/** Debian's kernel for all machines, for that for clouds has no driver of a watchdog; not installed here. */
const wholeKernel = async (directory: string): Promise<{ kernel: string; modules: string }> => {
  const [release] = (await readdir('/boot'))
    .flatMap((name) => /^vmlinuz-(.+)-cloud-amd64$/.exec(name)?.[1] ?? [])
    .sort()
    .reverse();
  if (release === undefined) throw new Error('there is no linux-image-cloud-amd64 on this machine');
  await run(
    'apt-get',
    ['download', '-o', 'APT::Sandbox::User=root', `linux-image-${release}-amd64-unsigned`],
    directory,
  );
  const [file] = (await readdir(directory)).filter((name) => name.endsWith('.deb'));
  await run('dpkg-deb', ['-x', file ?? '', 'kernel'], directory);
  return {
    kernel: join(directory, `kernel/boot/vmlinuz-${release}-amd64`),
    modules: join(directory, `kernel/lib/modules/${release}-amd64/kernel/drivers`),
  };
};

const initialRamDisk = async (directory: string, modules: string): Promise<string> => {
  const root = join(directory, 'root');
  await mkdir(join(root, 'bin'), { recursive: true });
  await copyFile('/bin/busybox', join(root, 'bin/busybox'));
  await writeFile(join(root, 'init'), init);
  for (const name of ['init', 'bin/busybox']) await chmod(join(root, name), 0o755);
  const names = ['init', 'bin', 'bin/busybox'];
  for (const driver of drivers) {
    const name = `${driver.split('/').at(-1) ?? ''}.ko`;
    await copyFile(join(modules, `${driver}.ko`), join(root, name));
    names.push(name);
  }
  await writeFile(join(directory, 'names'), `${names.join('\n')}\n`);
  await exec('/bin/sh', ['-c', 'cd root && cpio --quiet -o -H newc <../names | gzip -1 >../initrd.gz'], {
    timeoutMs: 60_000,
    cwd: directory,
  });
  return join(directory, 'initrd.gz');
};

/**
 * Makes a raw disk that boots Linux by BIOS. Told `hang` on its serial console it tells its watchdog that it is well, and
 * never again; told `panic`, it panics, and its kernel says so to the panic device.
 */
export const troubledGuestDisk = async (directory: string): Promise<string> => {
  const work = await mkdtemp(join(directory, 'work-'));
  const { kernel, modules } = await wholeKernel(work);
  const path = join(directory, 'troubled.raw');
  const [firstSector, mebibytes] = [2048, 48];
  await writeFile(path, '');
  await truncate(path, mebibytes * 1024 * 1024);
  await writeFile(join(work, 'table'), `label: dos\nstart=${firstSector}, type=c, bootable\n`);
  await exec('/bin/sh', ['-c', 'sfdisk --quiet "$1" <table', 'sh', path], { timeoutMs: 60_000, cwd: work });
  const mbr = ['/usr/lib/syslinux/mbr/mbr.bin', '/usr/lib/SYSLINUX/mbr.bin'];
  await exec(
    '/bin/sh',
    [
      '-c',
      'dd if="$(ls "$2" "$3" 2>/dev/null | head -1)" of="$1" bs=440 count=1 conv=notrunc status=none',
      'sh',
      path,
      ...mbr,
    ],
    { timeoutMs: 60_000, cwd: work },
  );
  const offset = String(firstSector * 512);
  const partition = `${path}@@${offset}`;
  const sectors = (mebibytes - 1) * 2048;
  await run(
    'mformat',
    ['-i', partition, '-T', String(sectors), '-h', '64', '-s', '32', '-H', String(firstSector), '::'],
    work,
  );
  await writeFile(join(work, 'syslinux.cfg'), config);
  await run('mcopy', ['-i', partition, kernel, '::/vmlinuz'], work);
  await run('mcopy', ['-i', partition, await initialRamDisk(work, modules), '::/initrd.gz'], work);
  await run('mcopy', ['-i', partition, join(work, 'syslinux.cfg'), '::/syslinux.cfg'], work);
  await run('syslinux', ['--install', '--offset', offset, path], work);
  await rm(work, { recursive: true, force: true });
  return path;
};
