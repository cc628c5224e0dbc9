import { access, constants, readFile, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

export interface DoctorCheck {
  name: string;
  ok: boolean;
  /** What was found. */
  message: string;
  /** The command that mends it; empty when nothing is wrong. */
  fix: string;
}

/** Where the machine is looked at; other values in tests. */
export interface DoctorView {
  /** Folder that has `proc`, `sys` and `dev`. */
  root: string;
  /** As the environment variable. */
  path: string;
  uid: number;
}

/** Programs that a host needs, and the Debian package of each. */
const programs = [
  ['qemu-system-x86_64', 'qemu-system-x86'],
  ['qemu-img', 'qemu-utils'],
  ['ip', 'iproute2'],
  ['nft', 'nftables'],
  ['dnsmasq', 'dnsmasq-base'],
  ['bwrap', 'bubblewrap'],
  ['setpriv', 'util-linux'],
  // Writes config drives.
  ['genisoimage', 'genisoimage'],
] as const;
const controllers = ['cpu', 'memory', 'pids'];

const readable = async (path: string, mode = constants.R_OK): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );
const content = (path: string): Promise<string> =>
  readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => '',
  );

/** What this machine lacks for the compute role. Looks only; changes nothing. */
export const examine = async (
  view: DoctorView = { root: '/', path: process.env['PATH'] ?? '', uid: process.getuid?.() ?? -1 },
): Promise<DoctorCheck[]> => [
  root(view),
  ...(await Promise.all(programs.map(([program, debian]) => installed(view, program, debian)))),
  await kvm(view),
  await device(view, 'dev/net/tun', 'tun', 'modprobe tun'),
  await cgroups(view),
  await brNetfilter(view),
  await forwarding(view),
];

const check = (name: string, ok: boolean, good: string, bad: string, fix: string): DoctorCheck => ({
  name,
  ok,
  message: ok ? good : bad,
  fix: ok ? '' : fix,
});

const root = ({ uid }: DoctorView): DoctorCheck =>
  check(
    'root',
    uid === 0,
    'runs as root',
    'the compute role makes devices and namespaces and must run as root',
    'sudo vc-stack compute',
  );

const installed = async ({ path }: DoctorView, program: string, debian: string): Promise<DoctorCheck> => {
  for (const dir of path.split(delimiter).concat('/usr/sbin', '/sbin')) {
    if (dir !== '' && (await readable(join(dir, program), constants.X_OK)))
      return check(program, true, join(dir, program), '', '');
  }
  return check(program, false, '', `${program} is not installed`, `apt-get install -y ${debian}`);
};

/** A missing KVM costs speed, not function: the machine may itself be virtual. */
const kvm = async ({ root: base }: DoctorView): Promise<DoctorCheck> => {
  const ok = await readable(join(base, 'dev/kvm'), constants.R_OK | constants.W_OK);
  const { mode } = ok ? await stat(join(base, 'dev/kvm')) : { mode: 0 };
  if (ok && (mode & 0o060) !== 0o060 && (mode & 0o006) !== 0o006)
    return check(
      'kvm',
      false,
      '',
      '/dev/kvm is for root alone, and virtual machines do not run as root: software emulation, slowly',
      'chgrp kvm /dev/kvm && chmod 660 /dev/kvm',
    );
  return check(
    'kvm',
    ok,
    '/dev/kvm is there (whether it boots guests is found out by the agent)',
    'there is no usable /dev/kvm: guests run under software emulation, slowly',
    'modprobe kvm_intel || modprobe kvm_amd   # and switch virtualisation on in the firmware',
  );
};

const device = async ({ root: base }: DoctorView, path: string, name: string, fix: string): Promise<DoctorCheck> =>
  check(
    name,
    await readable(join(base, path), constants.R_OK | constants.W_OK),
    `/${path} is there`,
    `there is no usable /${path}`,
    fix,
  );

const cgroups = async ({ root: base }: DoctorView): Promise<DoctorCheck> => {
  const top = await content(join(base, 'sys/fs/cgroup/cgroup.controllers'));
  const found = (top || (await content(join(base, 'sys/fs/cgroup/unified/cgroup.controllers'))))
    .split(/\s+/)
    .filter((c) => c !== '');
  const missing = controllers.filter((c) => !found.includes(c));
  const bad =
    found.length === 0
      ? 'control groups version 2 are not mounted: instances run without limits'
      : `control groups lack ${missing.join(', ')}: instances run without those limits`;
  return check(
    'cgroup2',
    missing.length === 0,
    `control groups version 2 with ${found.join(', ')}`,
    bad,
    'boot with systemd.unified_cgroup_hierarchy=1',
  );
};

const brNetfilter = async ({ root: base }: DoctorView): Promise<DoctorCheck> =>
  check(
    'br_netfilter',
    await readable(join(base, 'proc/sys/net/bridge/bridge-nf-call-iptables')),
    'bridged packets can be filtered',
    'br_netfilter is not loaded: security groups cannot hold',
    'modprobe br_netfilter && echo br_netfilter > /etc/modules-load.d/vc-stack.conf',
  );

const forwarding = async ({ root: base }: DoctorView): Promise<DoctorCheck> =>
  check(
    'ip_forward',
    (await content(join(base, 'proc/sys/net/ipv4/ip_forward'))) === '1',
    'packets are forwarded',
    'this host does not forward packets: instances do not reach the outside',
    'sysctl -w net.ipv4.ip_forward=1 && echo net.ipv4.ip_forward=1 > /etc/sysctl.d/60-vc-stack.conf',
  );
