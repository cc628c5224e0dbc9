import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { examine } from './doctor';

describe('doctor', () => {
  let root: string;
  const put = (path: string, content = ''): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    chmodSync(join(root, path), 0o755);
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'vc-doctor-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('finds nothing wrong with a host that has all', async () => {
    for (const program of ['qemu-system-x86_64', 'qemu-img', 'ip', 'nft', 'dnsmasq', 'bwrap', 'setpriv', 'genisoimage'])
      put(`bin/${program}`);
    put('dev/kvm');
    chmodSync(join(root, 'dev/kvm'), 0o660);
    put('dev/net/tun');
    put('sys/fs/cgroup/cgroup.controllers', 'cpuset cpu io memory pids\n');
    put('proc/sys/net/bridge/bridge-nf-call-iptables', '0\n');
    put('proc/sys/net/ipv4/ip_forward', '1\n');
    const checks = await examine({ root, path: join(root, 'bin'), uid: 0 });
    expect(checks.filter((c) => !c.ok)).toEqual([]);
    expect(checks.every((c) => c.fix === '')).toBe(true);
  });

  it('names a KVM that only root may use: virtual machines are not root', async () => {
    put('dev/kvm');
    chmodSync(join(root, 'dev/kvm'), 0o600);
    const kvm = (await examine({ root, path: join(root, 'bin'), uid: 0 })).find((c) => c.name === 'kvm');
    expect(kvm).toMatchObject({ ok: false, fix: 'chgrp kvm /dev/kvm && chmod 660 /dev/kvm' });
  });

  it('names what is missing, and the command that mends it', async () => {
    put('sys/fs/cgroup/unified/cgroup.controllers', 'cpu');
    put('proc/sys/net/ipv4/ip_forward', '0');
    const checks = await examine({ root, path: join(root, 'bin'), uid: 1000 });
    const bad = new Map(checks.filter((c) => !c.ok).map((c) => [c.name, c]));
    expect([...bad.keys()]).toEqual(
      expect.arrayContaining([
        'root',
        'qemu-system-x86_64',
        'qemu-img',
        'kvm',
        'tun',
        'cgroup2',
        'br_netfilter',
        'ip_forward',
      ]),
    );
    expect(bad.get('qemu-img')?.fix).toBe('apt-get install -y qemu-utils');
    expect(bad.get('cgroup2')?.message).toContain('memory, pids');
    expect([...bad.values()].every((c) => c.fix !== '' && c.message !== '')).toBe(true);
  });
});
