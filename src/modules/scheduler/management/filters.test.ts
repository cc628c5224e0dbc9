import type { SchedulableHost } from '../../host/contract/host.ports';
import type { PlacementRequest } from '../contract/scheduler.ports';
import { emptyUsage, filters, weigh } from './filters';

const gib = 2 ** 30;
const host: SchedulableHost = {
  id: 'h1',
  name: 'one',
  address: '192.0.2.1',
  state: 'ready',
  schedulable: true,
  reason: '',
  architecture: 'x86_64',
  vcpus: 8,
  memoryBytes: 16 * gib,
  diskBytes: 100 * gib,
  pools: [{ name: 'default', totalBytes: 100 * gib }],
  vmms: [{ kind: 'qemu', usable: true, capabilities: [] }],
  verbs: null,
};
const request = {
  instanceId: 'i',
  projectId: 'p',
  vcpus: 2,
  memoryBytes: 4 * gib,
  diskBytes: 10 * gib,
  pool: 'default',
  architecture: 'x86_64',
  firmware: 'any' as PlacementRequest['firmware'],
};
const verdict = (h: SchedulableHost, usage = emptyUsage, r: PlacementRequest = request): string | undefined =>
  filters.find((f) => f.refuses(h, usage, r) !== undefined)?.code;

describe('host filters', () => {
  it('passes a host with room', () => expect(verdict(host)).toBeUndefined());
  it('fills a host to the last byte and not beyond', () => {
    expect(verdict(host, { ...emptyUsage, memoryBytes: 12 * gib })).toBeUndefined();
    expect(verdict(host, { ...emptyUsage, memoryBytes: 12 * gib + 1 })).toBe('memory');
    expect(verdict(host, { ...emptyUsage, vcpus: 7 })).toBe('vcpus');
    expect(verdict(host, { ...emptyUsage, pools: { default: 91 * gib } })).toBe('disk');
  });
  it('names the first obstacle', () => {
    expect(verdict({ ...host, schedulable: false, reason: 'in maintenance' })).toBe('not_ready');
    expect(verdict({ ...host, vmms: [] })).toBe('no_vmm');
    expect(verdict({ ...host, architecture: 'aarch64' })).toBe('architecture');
    expect(verdict(host, emptyUsage, { ...request, hostId: 'h2' })).toBe('other_host');
  });
  it('asks a VMM that works for the firmware of the image', () => {
    const uefi = { ...request, firmware: 'uefi' as const };
    expect(verdict(host, emptyUsage, uefi)).toBe('firmware');
    expect(
      verdict({ ...host, vmms: [{ kind: 'qemu', usable: true, capabilities: ['bios', 'uefi'] }] }, emptyUsage, uefi),
    ).toBeUndefined();
    expect(
      verdict(
        { ...host, vmms: [...host.vmms, { kind: 'cloud-hypervisor', usable: false, capabilities: ['uefi'] }] },
        emptyUsage,
        uefi,
      ),
    ).toBe('firmware');
  });
  it('passes over hosts whose agent does not understand what is asked for', () => {
    const asked = { ...request, verbs: { 'instance.ensure': 2 } };
    expect(verdict({ ...host, verbs: { 'instance.ensure': 2 } }, emptyUsage, asked)).toBeUndefined();
    for (const verbs of [null, {} as Record<string, number>, { 'instance.ensure': 1 }])
      expect(verdict({ ...host, verbs }, emptyUsage, asked)).toBe('outdated');
    expect(filters.find((f) => f.code === 'outdated')?.refuses(host, emptyUsage, asked)).toMatch(
      /"instance.ensure".*upgrade the host/,
    );
    expect(verdict(host, emptyUsage, { ...request, verbs: { 'instance.ensure': 1 } })).toBeUndefined();
  });
  it('wants the VMM that was asked for, working and with the firmware', () => {
    const ch = { kind: 'cloud-hypervisor', usable: true, capabilities: ['uefi'] };
    const both = { ...host, vmms: [{ kind: 'qemu', usable: true, capabilities: ['bios'] }, ch] };
    const on = (vmm: string | null, firmware: PlacementRequest['firmware'] = 'any'): PlacementRequest => ({
      ...request,
      vmm,
      firmware,
    });
    for (const fits of [on(null), on('qemu'), on('qemu', 'bios'), on('cloud-hypervisor', 'uefi'), on(null, 'uefi')])
      expect(verdict(both, emptyUsage, fits)).toBeUndefined();
    expect(verdict(both, emptyUsage, on('qemu', 'uefi'))).toBe('firmware');
    expect(verdict(both, emptyUsage, on('firecracker'))).toBe('vmm');
    const broken = { ...both, vmms: [{ ...ch, usable: false }, ...host.vmms] };
    expect(verdict(broken, emptyUsage, on('cloud-hypervisor'))).toBe('vmm');
    const why = (h: SchedulableHost): string | undefined =>
      filters.find((f) => f.code === 'vmm')?.refuses(h, emptyUsage, on('cloud-hypervisor'));
    expect([why(broken), why(host)]).toEqual([
      'cloud-hypervisor was asked for, which does not work on it',
      'cloud-hypervisor was asked for, which it does not have',
    ]);
  });
  it('counts the disk of the pool alone', () => {
    const two = { ...host, pools: [...host.pools, { name: 'fast', totalBytes: 15 * gib }] };
    const usage = { ...emptyUsage, diskBytes: 98 * gib, pools: { default: 95 * gib, fast: 3 * gib } };
    expect(verdict(two, usage)).toBe('disk');
    expect(verdict(two, usage, { ...request, pool: 'fast' })).toBeUndefined();
    expect(verdict(two, { ...usage, pools: { fast: 6 * gib } }, { ...request, pool: 'fast' })).toBe('disk');
    expect(verdict(host, emptyUsage, { ...request, pool: 'fast' })).toBe('pool');
    expect(filters.find((f) => f.code === 'disk')?.refuses(two, usage, request)).toBe(
      'needs 10 GiB of disk in the pool "default", has 5 GiB free',
    );
  });
  it('says how much is missing', () =>
    expect(
      filters.find((f) => f.code === 'memory')?.refuses(host, { ...emptyUsage, memoryBytes: 15 * gib }, request),
    ).toBe('needs 4 GiB of memory, has 1 GiB free'));
  it('prefers the emptier host', () =>
    expect(weigh(host, emptyUsage, request)).toBeGreaterThan(weigh(host, { ...emptyUsage, vcpus: 4 }, request)));
});
