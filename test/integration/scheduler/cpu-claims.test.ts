import { randomUUID } from 'node:crypto';
import type { NodeRoom } from '../../../src/modules/host/contract/cpu-topology';
import { noHugePages } from '../../../src/modules/host/contract/page-sizes';
import { Hosts, type SchedulableHost } from '../../../src/modules/host/contract/host.ports';
import { largerClaims } from '../../../src/modules/scheduler/contract/cpu-claims';
import type { ClaimSize, PlacementRequest, WantedCpus } from '../../../src/modules/scheduler/contract/scheduler.ports';
import { ClaimRepository } from '../../../src/modules/scheduler/management/claim.repository';
import { SchedulerPlacement } from '../../../src/modules/scheduler/management/scheduler-placement';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';

const mib = 2 ** 20;

const node = (number: number, cpus: number): NodeRoom => ({
  node: number,
  dedicatedCpus: cpus,
  memoryBytes: 1024 * mib,
});

class ListedHosts extends Hosts {
  listed: SchedulableHost[] = [];
  override async all(): Promise<SchedulableHost[]> {
    return this.listed.map((host) => ({ ...host }));
  }
  override async byId(_op: unknown, id: string): Promise<SchedulableHost | undefined> {
    return this.listed.find((host) => host.id === id);
  }
  override async names(): Promise<Map<string, string>> {
    return new Map();
  }
}

describe('claims of CPUs of hosts', () => {
  let db: TestDatabase;
  const hosts = new ListedHosts();
  const claims = new ClaimRepository();
  let placement: SchedulerPlacement;

  beforeAll(async () => {
    db = await startTestDatabase();
  }, 60_000);
  afterAll(() => db.close());
  beforeEach(async () => {
    await db.database.query('TRUNCATE cpu_claim, host_claim, disk_claim, host_usage');
    placement = new SchedulerPlacement(hosts, claims);
  });

  const hostWith = (name: string, nodes: NodeRoom[], vcpus = 4): SchedulableHost => ({
    id: randomUUID(),
    address: '192.0.2.1',
    name,
    state: 'ready',
    schedulable: true,
    reason: '',
    architecture: 'x86_64',
    vcpus,
    nodes,
    memoryBytes: 16_384 * mib,
    hugePages: noHugePages,
    diskBytes: 10_240 * mib,
    stores: [{ key: 'pools/default', part: 'pools', name: 'default', bytes: 10_240 * mib }],
    parts: {},
    verbs: null,
  });
  const request = (count: number, numaNodes: number | null = null): PlacementRequest => ({
    instanceId: randomUUID(),
    projectId: randomUUID(),
    vcpus: 0,
    cpus: { count, numaNodes, memoryBytes: 256 * mib },
    memoryBytes: 256 * mib,
    diskBytes: mib,
    store: { key: 'pools/default', words: 'the pool "default"' },
    architecture: 'x86_64',
    needs: [],
  });
  const sharing = (vcpus: number): PlacementRequest => {
    const { cpus: _cpus, ...rest } = request(1);
    return { ...rest, vcpus };
  };
  const claim = (r: PlacementRequest, by = placement): Promise<{ hostId: string }> =>
    db.database.tx((op) => by.claim(op, r));
  const cpusOf = (r: PlacementRequest) => placement.cpusOf(db.database.op, r.instanceId);
  const usageOf = async (host: SchedulableHost) => (await claims.usage(db.database.op, [host.id])).get(host.id);
  const count = async (): Promise<number> =>
    (await db.database.query<{ sum: number }>('SELECT coalesce(sum(cpus), 0)::int AS sum FROM cpu_claim'))[0]?.sum ?? 0;

  it('gives no CPU twice, however many ask at once and whichever process they ask', async () => {
    const [one, two] = (hosts.listed = [hostWith('one', [node(0, 3)]), hostWith('two', [node(0, 4), node(1, 3)])]);
    const others = [placement, new SchedulerPlacement(hosts, claims), new SchedulerPlacement(hosts, claims)];
    const asked = Array.from({ length: 30 }, (_, index) => ({ r: request(1), by: others[index % 3] }));
    const outcomes = await Promise.allSettled(asked.map(({ r, by }) => claim(r, by)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect(await count()).toBe(10);
    expect((await usageOf(one as SchedulableHost))?.nodes).toEqual({ 0: { cpus: 3, memoryBytes: 0 } });
    expect((await usageOf(two as SchedulableHost))?.nodes).toEqual({
      0: { cpus: 4, memoryBytes: 0 },
      1: { cpus: 3, memoryBytes: 0 },
    });
    // Those that share are another resource.
    expect((await usageOf(one as SchedulableHost))?.vcpus).toBe(0);
    await claim(sharing(4));
    const lost = outcomes.find(({ status }) => status === 'rejected');
    expect(lost).toMatchObject({
      reason: {
        code: 'no_host',
        cause: expect.stringContaining('one: needs 1 CPU of its own, has 0 free') as string,
        message: expect.not.stringContaining('CPU') as string,
      },
    });
    const [first] = asked.filter((_, index) => outcomes[index]?.status === 'fulfilled');
    await db.database.tx((op) => placement.release(op, first?.r.instanceId ?? ''));
    expect(await count()).toBe(9);
    await claim(request(1));
  });

  it('asks once and for all, and a claim that is rolled back is none', async () => {
    hosts.listed = [hostWith('one', [node(0, 2)])];
    const r = request(2);
    await claim(r);
    await claim(r);
    expect(await cpusOf(r)).toEqual([{ node: 0, cpus: 2, memoryBytes: 0 }]);
    await db.database.tx((op) => placement.release(op, r.instanceId));
    await expect(
      db.database.tx(async (op) => {
        await placement.claim(op, r);
        throw new Error('the process ends here');
      }),
    ).rejects.toThrow('ends here');
    expect(await count()).toBe(0);
  });

  it('says what no host could ever give, and what they all have given out', async () => {
    const [one] = (hosts.listed = [hostWith('one', [node(0, 2), node(3, 2)]), hostWith('none', [])]);
    const codes = async (r: PlacementRequest) =>
      (await placement.explain(db.database.op, r)).map(({ code, reason }) => [code, reason]);
    expect(await codes(request(5))).toEqual([
      ['dedicated_cpus', 'it needs 5 CPUs of its own, the host has 4 set aside on 2 NUMA nodes'],
      ['dedicated_cpus', 'it sets no CPU aside for instances of their own (modules.host.dedicatedCpus)'],
    ]);
    expect((await codes(request(2, 3)))[0]?.[0]).toBe('dedicated_cpus');
    expect(await placement.fits(db.database.op, request(4))).toBe(true);
    await claim(request(1));
    expect(await placement.fits(db.database.op, request(4))).toBe(false);
    expect((await codes(request(4)))[0]).toEqual(['dedicated_cpus_taken', 'needs 4 CPUs of its own, has 3 free']);
    expect(await placement.fits(db.database.op, { ...request(2, 2), hostId: one?.id ?? '' })).toBe(true);
  });

  it('binds memory to the NUMA nodes that are asked for, no more than they have', async () => {
    hosts.listed = [hostWith('one', [node(0, 64), node(2, 64)])];
    const wanted = (): PlacementRequest => {
      const r = request(2, 2);
      return { ...r, cpus: { count: 2, numaNodes: 2, memoryBytes: 512 * mib } };
    };
    const all = Array.from({ length: 8 }, wanted);
    const outcomes = await Promise.allSettled(all.map((r) => claim(r)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    const kept = all[outcomes.findIndex(({ status }) => status === 'fulfilled')];
    expect(await cpusOf(kept ?? wanted())).toEqual([
      { node: 0, cpus: 1, memoryBytes: 256 * mib },
      { node: 2, cpus: 1, memoryBytes: 256 * mib },
    ]);
  });

  describe('of an instance that gets another size', () => {
    const size: ClaimSize = { vcpus: 0, memoryBytes: 256 * mib, diskBytes: mib };
    const wanted = (count: number): WantedCpus => ({ count, numaNodes: null, memoryBytes: 0 });
    const resize = (r: PlacementRequest, to: ClaimSize): Promise<void> =>
      db.database.tx((op) => placement.resize(op, r.instanceId, to));

    it('hold both ways until one is certain, and others take neither', async () => {
      const [one] = (hosts.listed = [hostWith('one', [node(0, 4), node(1, 2)])]);
      const r = request(2);
      await claim(r);
      const before = await cpusOf(r);
      expect(before).toEqual([{ node: 1, cpus: 2, memoryBytes: 0 }]);
      const after = await db.database.tx(async (op) => {
        const other = await placement.otherCpus(op, r.instanceId, wanted(4));
        await placement.resize(op, r.instanceId, { ...size, cpus: largerClaims(before, other) });
        return other;
      });
      expect(after).toEqual([{ node: 0, cpus: 4, memoryBytes: 0 }]);
      await expect(claim(request(1))).rejects.toMatchObject({ code: 'no_host' });
      await resize(r, { ...size, cpus: after });
      expect(await cpusOf(r)).toEqual(after);
      await claim(request(2));
      // Whatever else changes of its claim, what is its own stays, and it shares nothing.
      await resize(r, { vcpus: 4, memoryBytes: 512 * mib, diskBytes: 2 * mib });
      expect(await cpusOf(r)).toEqual(after);
      expect(await usageOf(one as SchedulableHost)).toMatchObject({ vcpus: 0, diskBytes: 3 * mib });
    });

    it('are refused where there are not so many, for operators with how many there are', async () => {
      hosts.listed = [hostWith('one', [node(0, 4)])];
      const r = request(2);
      await claim(r);
      await claim(request(1));
      const check = (count: number) =>
        placement.checkResize(db.database.op, r.instanceId, { ...size, cpus: wanted(count) }, true);
      await check(3);
      await expect(check(4)).rejects.toMatchObject({
        code: 'no_room',
        message: 'Host one has no room for this size: it needs 4 CPUs of its own, has 3 free.',
      });
      await expect(db.database.tx((op) => placement.otherCpus(op, r.instanceId, wanted(4)))).rejects.toMatchObject({
        code: 'no_room',
      });
    });

    it('give way to sharing, and the other way round', async () => {
      const [one] = (hosts.listed = [hostWith('one', [node(0, 2)], 3)]);
      const r = request(2);
      await claim(r);
      await claim(sharing(1));
      await placement.checkResize(db.database.op, r.instanceId, { ...size, vcpus: 2, cpus: null }, true);
      await expect(
        placement.checkResize(db.database.op, r.instanceId, { ...size, vcpus: 3, cpus: null }, true),
      ).rejects.toMatchObject({ code: 'no_room' });
      await resize(r, { ...size, vcpus: 2, cpus: [] });
      expect(await usageOf(one as SchedulableHost)).toMatchObject({ vcpus: 3, nodes: {} });
      await expect(resize(r, { ...size, vcpus: 3, cpus: [] })).rejects.toMatchObject({ code: 'no_room' });
      const back = await db.database.tx(async (op) => {
        const other = await placement.otherCpus(op, r.instanceId, wanted(2));
        await placement.resize(op, r.instanceId, { ...size, cpus: other });
        return other;
      });
      expect(await cpusOf(r)).toEqual(back);
      expect(await usageOf(one as SchedulableHost)).toMatchObject({ vcpus: 1 });
    });

    it('are taken by one of many that grow at once', async () => {
      hosts.listed = [hostWith('one', [node(0, 8)])];
      const held = Array.from({ length: 5 }, () => request(1));
      for (const r of held) await claim(r);
      const outcomes = await Promise.allSettled(
        held.map((r) =>
          db.database.tx(async (op) => {
            const other = await placement.otherCpus(op, r.instanceId, wanted(3));
            await placement.resize(op, r.instanceId, { ...size, cpus: other });
          }),
        ),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await count()).toBe(7);
    });
  });
});
