import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../support/repository';

const run = promisify(execFile);

export type Suite = 'bookworm' | 'trixie';
export type Firmware = 'bios' | 'uefi';

const lastLine = (program: string, ...args: string[]): string =>
  execFileSync(join(repositoryRoot, program), args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
    .trim()
    .split('\n')
    .pop() ?? '';

/** Path of the suite's disk image, made when it is not in the cache. */
export const debianImage = (suite: Suite): string =>
  lastLine('bin/debian-image', suite, join(repositoryRoot, '.cache'));

/**
 * What the suite's disk boots by, as its own boot loader would: the newest kernel of its /boot with that one's
 * initramfs, and a command line that leads to its root.
 */
export const debianKernel = (suite: Suite): { kernel: Buffer; initramfs: Buffer; commandLine: string } => {
  const directory = mkdtempSync('/tmp/vcs-debian-kernel-');
  try {
    const disk = join(directory, 'disk.raw');
    execFileSync('qemu-img', ['convert', '-O', 'raw', debianImage(suite), disk]);
    const { partitiontable } = JSON.parse(execFileSync('sfdisk', ['--json', disk], { encoding: 'utf8' })) as {
      partitiontable: { sectorsize: number; partitions: { start: number }[] };
    };
    // Its root is the last one, so that it grows with the disk.
    const offset = Math.max(...partitiontable.partitions.map(({ start }) => start)) * partitiontable.sectorsize;
    const root = join(directory, 'root.raw');
    const part = `driver=raw,offset=${offset},file.driver=file,file.filename=${disk}`;
    execFileSync('qemu-img', ['convert', '-O', 'raw', '--image-opts', part, root]);
    const debugfs = (request: string): string =>
      execFileSync('debugfs', ['-R', request, root], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    const file = (name: string): Buffer => {
      debugfs(`dump /boot/${name} ${join(directory, name)}`);
      return readFileSync(join(directory, name));
    };
    const release = debugfs('ls -p /boot').match(/\/vmlinuz-([^/]+)\//)?.[1] ?? '';
    const uuid = /^Filesystem UUID:\s+(\S+)/m.exec(debugfs('show_super_stats -h'))?.[1] ?? '';
    return {
      kernel: file(`vmlinuz-${release}`),
      initramfs: file(`initrd.img-${release}`),
      commandLine: `root=UUID=${uuid} ro console=tty0 console=ttyS0,115200`,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** Path of a QEMU whose software emulation runs current kernels. */
export const soundQemu = (): string => lastLine('test/guests/get-qemu', join(repositoryRoot, '.cache'));

/** A guest that is reached by ssh from the namespace of its network, as the user that Debian's cloud-init makes. */
export class DebianGuest {
  constructor(
    private readonly netns: string,
    readonly address: string,
    private readonly key: string,
  ) {}

  /** Standard output of the command in the guest's shell. Throws when it fails, or ssh does. */
  async sh(command: string, timeoutMs = 60_000): Promise<string> {
    const options = [
      'BatchMode=yes',
      'StrictHostKeyChecking=no',
      'UserKnownHostsFile=/dev/null',
      'LogLevel=ERROR',
      'ConnectTimeout=15',
    ].flatMap((option) => ['-o', option]);
    const { stdout } = await run(
      'ip',
      ['netns', 'exec', this.netns, 'ssh', '-i', this.key, ...options, `debian@${this.address}`, command],
      { timeout: timeoutMs, encoding: 'utf8' },
    );
    return stdout.trim();
  }

  /** Resolves with what the guest's boot left to see, once cloud-init says that it is done. */
  async booted(timeoutMs: number): Promise<GuestFacts> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      try {
        return parseFacts(await this.sh(`sudo sh -c '${questions}'`, Math.max(1000, end - Date.now())));
      } catch (error) {
        if (Date.now() > end)
          throw new Error(`no ssh to ${this.address} within ${timeoutMs / 1000} s: ${(error as Error).message}`);
      }
    }
  }
}

export interface GuestFacts {
  hostname: string;
  /** What cloud-init says of itself: where it had its data from, and what failed. */
  cloudInit: { datasource: string; errors: string[] };
  instanceId: string;
  firmware: Firmware;
  rootBytes: number;
  /** Addresses in CIDR form by MAC. */
  addresses: Record<string, string[]>;
  /** MTU by MAC. */
  mtu: Record<string, number>;
  defaultRoutes: string[];
  /** Lines that commands of the user data have written, one for each time. */
  runs: string[];
  /** Kernel's random id of this boot. */
  bootId: string;
}

/** One command for all, for each process in an emulated guest takes its time. No single quotes. */
const questions = [
  'timeout 240 cloud-init status --wait > /dev/null; tr -d "\\n" < /run/cloud-init/result.json; echo',
  'hostname',
  'cat /var/lib/cloud/data/instance-id',
  'test -d /sys/firmware/efi && echo uefi || echo bios',
  'df -B1 --output=size / | tail -n 1',
  'cat /proc/sys/kernel/random/boot_id',
  'ip -j addr',
  'ip -j route show default',
  'cat /var/lib/t-runs',
].join('; ');

interface Link {
  address: string;
  mtu: number;
  link_type: string;
  addr_info: { local: string; prefixlen: number; scope: string }[];
}

const parseFacts = (text: string): GuestFacts => {
  const [
    result = '{}',
    hostname = '',
    instanceId = '',
    firmware = '',
    size = '',
    bootId = '',
    addresses = '[]',
    routes = '[]',
    ...runs
  ] = text.split('\n');
  const links = (JSON.parse(addresses) as Link[]).filter((link) => link.link_type === 'ether');
  return {
    cloudInit: (JSON.parse(result) as { v1: GuestFacts['cloudInit'] }).v1,
    hostname,
    instanceId,
    firmware: firmware === 'uefi' ? 'uefi' : 'bios',
    rootBytes: Number(size),
    bootId,
    addresses: Object.fromEntries(
      links.map((link) => [
        link.address,
        link.addr_info.filter((a) => a.scope === 'global').map((a) => `${a.local}/${a.prefixlen}`),
      ]),
    ),
    mtu: Object.fromEntries(links.map((link) => [link.address, link.mtu])),
    defaultRoutes: (JSON.parse(routes) as { gateway: string }[]).map(({ gateway }) => gateway),
    runs,
  };
};
