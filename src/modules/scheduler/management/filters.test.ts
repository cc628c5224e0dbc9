import type { SchedulableHost } from '../../host/contract/host.ports';
import type { PlacementRequest } from '../contract/scheduler.ports';
import { noHugePages } from '../../host/contract/page-sizes';
import { emptyUsage, refusal, weigh } from './filters';

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
  nodes: [],
  memoryBytes: 16 * gib,
  hugePages: { ...noHugePages, '2MiB': 4 * gib },
  diskBytes: 100 * gib,
  stores: [{ key: 'pools/default', part: 'pools', name: 'default', bytes: 100 * gib }],
  parts: { lamps: [{ name: 'great' }] },
  verbs: null,
};
const request = {
  instanceId: 'i',
  projectId: 'p',
  vcpus: 2,
  memoryBytes: 4 * gib,
  diskBytes: 10 * gib,
  store: { key: 'pools/default', words: 'the pool "default"' },
  architecture: 'x86_64',
  needs: [],
} satisfies PlacementRequest;
const verdict = (h: SchedulableHost, usage = emptyUsage, r: PlacementRequest = request): string | undefined =>
  refusal(h, usage, r)?.code;

describe('host filters', () => {
  it('passes a host with room', () => expect(verdict(host)).toBeUndefined());
  it('fills a host to the last byte and not beyond', () => {
    expect(verdict(host, { ...emptyUsage, memoryBytes: 12 * gib })).toBeUndefined();
    expect(verdict(host, { ...emptyUsage, memoryBytes: 12 * gib + 1 })).toBe('memory');
    expect(verdict(host, { ...emptyUsage, vcpus: 7 })).toBe('vcpus');
    const huge = { ...request, memoryBytes: 0, hugePages: { ...noHugePages, '2MiB': gib } };
    const used = (bytes: number) => ({ ...emptyUsage, hugePages: { ...noHugePages, '2MiB': bytes } });
    expect(verdict(host, { ...used(3 * gib), memoryBytes: 17 * gib }, huge)).toBeUndefined();
    expect(refusal(host, used(3 * gib + 2 ** 21), huge)).toMatchObject({
      code: 'huge_pages',
      reason: 'needs 512 of huge pages of 2MiB, has 511 free',
    });
    expect(verdict(host, emptyUsage, { ...huge, hugePages: { ...noHugePages, '1GiB': gib } })).toBe('huge_pages');
    // Fewer than are given out are nothing to those who want none.
    expect(verdict({ ...host, hugePages: noHugePages }, used(gib))).toBeUndefined();
    expect(verdict(host, { ...emptyUsage, stores: { 'pools/default': 91 * gib } })).toBe('disk');
  });
  it('names the first obstacle', () => {
    expect(verdict({ ...host, schedulable: false, reason: 'in maintenance' })).toBe('not_ready');
    expect(verdict({ ...host, architecture: 'aarch64' })).toBe('architecture');
    expect(verdict(host, emptyUsage, { ...request, hostId: 'h2' })).toBe('other_host');
  });
  it('asks what the request needs of the parts, before it looks for room', () => {
    const lamp = (name: string) => ({
      code: 'lamp',
      key: name,
      saying: 'It is dark everywhere.',
      refuses: ({ lamps = [] }: SchedulableHost['parts']) =>
        lamps.some((one) => one['name'] === name) ? undefined : `it has no lamp "${name}"`,
    });
    const full = { ...emptyUsage, vcpus: 8 };
    expect(verdict(host, emptyUsage, { ...request, needs: [lamp('great')] })).toBeUndefined();
    expect(verdict(host, full, { ...request, needs: [lamp('great')] })).toBe('vcpus');
    expect(refusal(host, full, { ...request, needs: [lamp('great'), lamp('small')] })).toEqual({
      code: 'lamp',
      reason: 'it has no lamp "small"',
      saying: 'It is dark everywhere.',
    });
  });
  it('passes over hosts whose agent does not understand what is asked for', () => {
    const asked = { ...request, verbs: { 'instance.ensure': 2 } };
    expect(verdict({ ...host, verbs: { 'instance.ensure': 2 } }, emptyUsage, asked)).toBeUndefined();
    for (const verbs of [null, {} as Record<string, number>, { 'instance.ensure': 1 }])
      expect(verdict({ ...host, verbs }, emptyUsage, asked)).toBe('outdated');
    expect(refusal(host, emptyUsage, asked)?.reason).toMatch(/"instance.ensure".*upgrade the host/);
    expect(verdict(host, emptyUsage, { ...request, verbs: { 'instance.ensure': 1 } })).toBeUndefined();
  });
  it('counts the disk of the store alone', () => {
    const fast = { key: 'pools/fast', words: 'the pool "fast"' };
    const two = {
      ...host,
      stores: [...host.stores, { key: 'pools/fast', part: 'pools', name: 'fast', bytes: 15 * gib }],
    };
    const usage = { ...emptyUsage, diskBytes: 98 * gib, stores: { 'pools/default': 95 * gib, 'pools/fast': 3 * gib } };
    expect(verdict(two, usage)).toBe('disk');
    expect(verdict(two, usage, { ...request, store: fast })).toBeUndefined();
    expect(verdict(two, { ...usage, stores: { 'pools/fast': 6 * gib } }, { ...request, store: fast })).toBe('disk');
    expect(verdict(host, emptyUsage, { ...request, store: fast })).toBe('disk');
    expect(refusal(two, usage, request)?.reason).toBe('needs 10 GiB of disk in the pool "default", has 5 GiB free');
  });
  it('says how much is missing', () =>
    expect(refusal(host, { ...emptyUsage, memoryBytes: 15 * gib }, request)?.reason).toBe(
      'needs 4 GiB of memory, has 1 GiB free',
    ));
  it('prefers the emptier host', () =>
    expect(weigh(host, emptyUsage, request)).toBeGreaterThan(weigh(host, { ...emptyUsage, vcpus: 4 }, request)));
});
