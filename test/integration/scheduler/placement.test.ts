import { randomUUID } from 'node:crypto';
import type { HostStore } from '../../../src/modules/host/contract/host-needs';
import { noHugePages } from '../../../src/modules/host/contract/page-sizes';
import { Hosts, type SchedulableHost } from '../../../src/modules/host/contract/host.ports';
import { PlacementRefusal } from '../../../src/modules/scheduler/contract/placement-refusal';
import type { ClaimSize, PlacementRequest } from '../../../src/modules/scheduler/contract/scheduler.ports';
import { ClaimRepository } from '../../../src/modules/scheduler/management/claim.repository';
import { SchedulerPlacement } from '../../../src/modules/scheduler/management/scheduler-placement';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';

const mib = 2 ** 20;

const storeOf = (name: string, bytes: number): HostStore => ({ key: `pools/${name}`, part: 'pools', name, bytes });

/** Room for four of what is asked for, by memory. */
const hostWith = (name: string, init: Partial<SchedulableHost> = {}): SchedulableHost => ({
  id: randomUUID(),
  address: '192.0.2.1',
  name,
  state: 'ready',
  schedulable: true,
  reason: '',
  architecture: 'x86_64',
  vcpus: 8,
  nodes: [],
  memoryBytes: 1024 * mib,
  hugePages: noHugePages,
  diskBytes: 10_240 * mib,
  stores: [storeOf('default', 10_240 * mib)],
  parts: { lamps: [{ name: 'great' }] },
  verbs: null,
  ...init,
});

class ListedHosts extends Hosts {
  listed: SchedulableHost[] = [];
  reads = 0;

  override async all(): Promise<SchedulableHost[]> {
    this.reads += 1;
    return this.listed.map((host) => ({ ...host }));
  }

  override async byId(_op: unknown, id: string): Promise<SchedulableHost | undefined> {
    return this.listed.find((host) => host.id === id);
  }

  override async names(): Promise<Map<string, string>> {
    return new Map();
  }
}

describe('placement', () => {
  let db: TestDatabase;
  let hosts: ListedHosts;
  const claims = new ClaimRepository();
  let placement: SchedulerPlacement;

  beforeAll(async () => {
    db = await startTestDatabase();
  }, 60_000);
  afterAll(() => db.close());
  beforeEach(async () => {
    await db.database.query('TRUNCATE cpu_claim, host_claim, disk_claim, host_usage');
    hosts = new ListedHosts();
    placement = new SchedulerPlacement(hosts, claims);
  });

  const request = (init: Partial<PlacementRequest> = {}): PlacementRequest => ({
    instanceId: randomUUID(),
    projectId: randomUUID(),
    vcpus: 1,
    memoryBytes: 256 * mib,
    diskBytes: mib,
    store: { key: 'pools/default', words: 'the pool "default"' },
    architecture: 'x86_64',
    needs: [],
    ...init,
  });
  const claim = (r = request()): Promise<{ hostId: string }> => db.database.tx((op) => placement.claim(op, r));
  const refusal = async (work: Promise<unknown>): Promise<PlacementRefusal> => {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof PlacementRefusal)) throw new Error('it was not refused');
    return error;
  };

  it('never gives away more than there is, however many ask at once, and says why the others got nothing', async () => {
    hosts.listed = [hostWith('one'), hostWith('two')];
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => claim()));
    expect(outcomes.filter((o) => o.status === 'fulfilled')).toHaveLength(8);
    const usage = await claims.usage(
      db.database.op,
      hosts.listed.map((h) => h.id),
    );
    for (const host of hosts.listed)
      expect(usage.get(host.id)).toMatchObject({ memoryBytes: 1024 * mib, instances: 4 });
    expect(await refusal(claim())).toMatchObject({
      code: 'no_host',
      extra: {},
      cause: expect.stringMatching(
        /^No host can hold this instance\. one: needs 0\.3 GiB of memory, has 0 GiB free; two: needs 0\.3 GiB/,
      ),
      message: expect.not.stringMatching(/one|two|GiB/),
    });
  });

  it('gives huge pages away as exactly, and they are none of the other memory', async () => {
    const pages = (mebibytes: number) => ({ ...noHugePages, '2MiB': mebibytes * mib });
    hosts.listed = [hostWith('one', { hugePages: pages(1024), vcpus: 32 }), hostWith('without', { vcpus: 32 })];
    const [one] = hosts.listed;
    const huge = () => request({ memoryBytes: 0, hugePages: pages(256) });
    // The other memory is all taken.
    const plain = Array.from({ length: 8 }, () => request());
    for (const r of plain) await claim(r);
    const asked = Array.from({ length: 12 }, huge);
    const outcomes = await Promise.allSettled(asked.map((r) => claim(r)));

    expect(outcomes.filter((o) => o.status === 'fulfilled')).toHaveLength(4);
    const usage = async () => (await claims.usage(db.database.op, [one?.id ?? ''])).get(one?.id ?? '');
    expect(await usage()).toMatchObject({ memoryBytes: 1024 * mib, hugePages: pages(1024), instances: 8 });
    expect(await refusal(claim(huge()))).toMatchObject({
      cause: expect.stringMatching(
        /one: needs 128 of huge pages of 2MiB, has 0 free; without: needs 128 of huge pages of 2MiB, has 0 free/,
      ),
      message: 'No host has enough huge pages of that size free. Choose another flavor, or ask an administrator.',
    });
    // From one kind to the other: many at once, and room for one.
    const held = asked.filter((_r, index) => outcomes[index]?.status === 'fulfilled');
    const to = (r: PlacementRequest, size: Partial<ClaimSize>): Promise<void> =>
      db.database.tx((op) => placement.resize(op, r.instanceId, { vcpus: 1, diskBytes: mib, memoryBytes: 0, ...size }));
    await db.database.tx((op) => placement.release(op, held[0]?.instanceId ?? ''));
    const onOne = await Promise.allSettled(plain.map((r) => to(r, { hugePages: pages(256) })));
    // Those of the other host have none to grow into.
    expect(onOne.filter((o) => o.status === 'fulfilled')).toHaveLength(1);
    expect(await usage()).toMatchObject({ memoryBytes: 768 * mib, hugePages: pages(1024) });
    for (const r of [...plain, ...held]) await db.database.tx((op) => placement.release(op, r.instanceId));
    expect(await usage()).toMatchObject({ memoryBytes: 0, hugePages: noHugePages, instances: 0 });
  });

  it('lets claims grow where they are only as far as there is room, however many grow at once; and shrink at any time', async () => {
    const one = hostWith('one', { vcpus: 10 });
    hosts.listed = [one];
    const held = [request(), request(), request()];
    for (const r of held) await claim(r);
    const size = { vcpus: 3, memoryBytes: 128 * mib, diskBytes: 2 * mib };
    const grown = (r: PlacementRequest, to = size): Promise<void> =>
      db.database.tx((op) => placement.resize(op, r.instanceId, to));
    // 3 of 10 vCPUs are claimed: one claim fits between 8 and 10.
    const larger = { ...size, vcpus: 6 };
    const outcomes = await Promise.allSettled(held.map((r) => grown(r, larger)));
    expect(outcomes.map((o) => o.status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(outcomes.find((o) => o.status === 'rejected')).toMatchObject({
      reason: {
        code: 'no_room',
        status: 409,
        cause: 'Host one has no room for this size: it needs 5 of vCPUs, has 2 free.',
      },
    });
    const sums = async (): Promise<unknown> => (await claims.usage(db.database.op, [one.id])).get(one.id);
    const winner = held[outcomes.findIndex((o) => o.status === 'fulfilled')];
    expect(await sums()).toMatchObject({ vcpus: 8, memoryBytes: (128 + 512) * mib, diskBytes: 4 * mib, instances: 3 });
    // What is there has shrunk meanwhile: what grows no further is not refused for that.
    one.vcpus = 2;
    one.stores = [storeOf('default', 3 * mib)];
    if (winner) await grown(winner, size);
    expect(await sums()).toEqual({
      vcpus: 5,
      nodes: {},
      memoryBytes: (128 + 512) * mib,
      hugePages: noHugePages,
      diskBytes: 4 * mib,
      instances: 3,
      stores: { 'pools/default': 4 * mib },
    });
    await grown(request());
    for (const r of held) await db.database.tx((op) => placement.release(op, r.instanceId));
    expect(await sums()).toMatchObject({
      vcpus: 0,
      memoryBytes: 0,
      diskBytes: 0,
      instances: 0,
      stores: { 'pools/default': 0 },
    });
  });

  it('never gives away more of a pool than there is, whatever lies in the others', async () => {
    const fast = { key: 'pools/fast', words: 'the pool "fast"' };
    const one = hostWith('one', { stores: [storeOf('default', 3 * mib), storeOf('fast', 2 * mib)] });
    hosts.listed = [one];
    const wanted = Array.from({ length: 8 }, (_, i) =>
      request({ memoryBytes: mib, ...(i % 2 === 0 ? {} : { store: fast }) }),
    );
    const outcomes = await Promise.allSettled(wanted.map((r) => claim(r)));
    expect(outcomes.filter((o) => o.status === 'fulfilled')).toHaveLength(5);
    const usage = async (): Promise<unknown> => (await claims.usage(db.database.op, [one.id])).get(one.id);
    expect(await usage()).toMatchObject({
      diskBytes: 5 * mib,
      stores: { 'pools/default': 3 * mib, 'pools/fast': 2 * mib },
    });
    expect(await refusal(claim(request({ memoryBytes: mib, store: fast })))).toMatchObject({
      cause: expect.stringContaining('of disk in the pool "fast", has 0 GiB free'),
    });
    for (const r of wanted) await db.database.tx((op) => placement.release(op, r.instanceId));
    expect(await usage()).toMatchObject({
      diskBytes: 0,
      instances: 0,
      stores: { 'pools/default': 0, 'pools/fast': 0 },
    });
  });

  it('gives disks that belong to no instance the room of a pool that is left, and takes it back', async () => {
    const one = hostWith('one', { vcpus: 1, stores: [storeOf('default', 10 * mib)] });
    hosts.listed = [one];
    await claim(request({ diskBytes: 2 * mib, memoryBytes: 1024 * mib }));
    const disk = (volumeId: string, bytes: number): Promise<{ hostId: string }> =>
      db.database.tx((op) =>
        placement.claimDisk(
          op,
          { volumeId, projectId: randomUUID(), bytes, store: { key: 'pools/default', words: 'the pool' }, needs: [] },
          false,
        ),
      );
    const ids = Array.from({ length: 6 }, () => randomUUID());
    const outcomes = await Promise.allSettled(ids.map((id) => disk(id, 4 * mib)));
    expect(outcomes.filter((o) => o.status === 'fulfilled')).toHaveLength(2);
    expect(await refusal(disk(randomUUID(), mib))).toMatchObject({
      code: 'no_host',
      cause: expect.stringMatching(/^No host can hold this volume\. one: needs 0\.0 GiB of disk in the pool/),
    });
    for (const id of ids) await placement.releaseDisk(db.database.op, id);
    for (const id of ids) await placement.releaseDisk(db.database.op, id);
    const usage = await claims.usage(db.database.op, [one.id]);
    expect(usage.get(one.id)).toMatchObject({ diskBytes: 2 * mib, stores: { 'pools/default': 2 * mib }, instances: 1 });
  });

  it('is asked twice for one instance and claims once', async () => {
    hosts.listed = [hostWith('one'), hostWith('two')];
    const wanted = request();
    const first = await claim(wanted);
    expect(await claim(wanted)).toEqual(first);
    expect((await claims.usage(db.database.op, [first.hostId])).get(first.hostId)?.instances).toBe(1);
    await db.database.tx((op) => placement.release(op, wanted.instanceId));
    await db.database.tx((op) => placement.release(op, wanted.instanceId));
    expect((await claims.usage(db.database.op, [first.hostId])).get(first.hostId)).toMatchObject({
      instances: 0,
      memoryBytes: 0,
      vcpus: 0,
      diskBytes: 0,
    });
  });

  it('does not place on a host that stopped being ready, or is gone, since the hosts were listed', async () => {
    const [one, two, three] = [hostWith('one'), hostWith('two'), hostWith('three')];
    hosts.listed = [one, two, three];
    await placement.explain(db.database.op, request());
    hosts.listed = [{ ...one, state: 'unknown', schedulable: false, reason: 'it is silent' }, two];
    for (let i = 0; i < 4; i += 1) expect(await claim()).toEqual({ hostId: two.id });
    expect(await refusal(claim())).toMatchObject({
      code: 'no_host',
      cause: expect.stringMatching(/one: it is silent; two: needs .* of memory/),
    });
  });

  it('goes by what a host has now, when it shrank or grew since the hosts were listed', async () => {
    const one = hostWith('one');
    hosts.listed = [one];
    await placement.explain(db.database.op, request());
    hosts.listed = [{ ...one, memoryBytes: 512 * mib }];
    for (let i = 0; i < 2; i += 1) expect(await claim()).toEqual({ hostId: one.id });
    await refusal(claim());
    hosts.listed = [{ ...one, memoryBytes: 768 * mib }];
    expect(await claim()).toEqual({ hostId: one.id });
    await refusal(claim());
    expect((await claims.usage(db.database.op, [one.id])).get(one.id)).toMatchObject({ instances: 3, vcpus: 3 });
  });

  it('keeps the claim that an instance has, whatever else is free', async () => {
    hosts.listed = Array.from({ length: 5 }, (_, i) => hostWith(`h${i}`));
    const wanted = request();
    const { hostId } = await claim(wanted);
    // The others are emptier, so they come first.
    for (let i = 0; i < 10; i += 1) expect(await claim(wanted)).toEqual({ hostId });
    const usage = await claims.usage(
      db.database.op,
      hosts.listed.map(({ id }) => id),
    );
    expect([...usage.values()].map(({ instances }) => instances).reduce((a, b) => a + b)).toBe(1);
  });

  it('finds a host that joined a moment ago before it refuses', async () => {
    hosts.listed = [hostWith('small', { memoryBytes: 128 * mib })];
    expect((await placement.explain(db.database.op, request())).map((v) => v.code)).toEqual(['memory']);
    const large = hostWith('large');
    hosts.listed = [...hosts.listed, large];
    expect((await placement.explain(db.database.op, request())).filter((v) => v.fits).map((v) => v.host)).toEqual([
      'large',
    ]);
    expect(await claim()).toEqual({ hostId: large.id });
  });

  it('sees that another process took the last room, before a request is accepted', async () => {
    const [one] = (hosts.listed = [hostWith('one')]);
    expect(await placement.fits(db.database.op, request())).toBe(true);
    const another = new SchedulerPlacement(hosts, claims);
    for (let n = 0; n < 4; n += 1) await db.database.tx((op) => another.claim(op, request()));
    expect(await placement.fits(db.database.op, request())).toBe(false);
    expect((await claims.usage(db.database.op, [one?.id ?? ''])).get(one?.id ?? '')?.instances).toBe(4);
  });

  it('places on room that came free elsewhere, when what it knew of was taken by another process', async () => {
    const [one, two] = [hostWith('one'), hostWith('two')];
    hosts.listed = [one, two];
    const another = new SchedulerPlacement(hosts, claims);
    const there = Array.from({ length: 4 }, () => request({ hostId: two.id }));
    for (const r of there) await db.database.tx((op) => another.claim(op, r));
    expect(await placement.fits(db.database.op, request())).toBe(true);
    for (let n = 0; n < 4; n += 1) await db.database.tx((op) => another.claim(op, request({ hostId: one.id })));
    for (const { instanceId } of there) await db.database.tx((op) => another.release(op, instanceId));
    expect(await claim()).toEqual({ hostId: two.id });
  });

  it('reads the list of hosts once for many requests', async () => {
    hosts.listed = Array.from({ length: 30 }, (_, i) => hostWith(`h${i}`));
    for (let i = 0; i < 20; i += 1) await claim();
    expect(hosts.reads).toBeLessThanOrEqual(3);
  });
});
