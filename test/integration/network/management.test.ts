import { randomUUID } from 'node:crypto';
import { HealthChecks } from '../../../src/core/http/server/health-checks';
import { Problem } from '../../../src/core/errors/problem';
import { usableCount, parseSubnet } from '../../../src/modules/network/contract/ipv4';
import { NetworkFixture } from './network-fixture';

jest.setTimeout(60_000);

let f: NetworkFixture;
beforeAll(async () => {
  f = await NetworkFixture.start();
}, 60_000);
afterAll(() => f.db.close());

const code = async (run: Promise<unknown>): Promise<string> => {
  try {
    await run;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
  return 'none';
};
const page = { limit: 50, cursor: undefined };

describe('networks', () => {
  it('live through create, show by id and name, change and delete, each an event', async () => {
    const project = randomUUID();
    f.outbox.events.length = 0;
    const made = await f.create(project, { name: 'n1', subnet: '10.10.0.0/24', dns: ['1.1.1.1', '1.1.1.1'] });
    expect(made).toMatchObject({
      name: 'n1',
      subnet: '10.10.0.0/24',
      gateway: '10.10.0.1',
      dns: ['1.1.1.1'],
      nat: true,
      mtu: 1450,
      addresses: { total: 253, used: 0 },
    });
    const { op } = f.db.database;
    expect(await f.service.get(op, f.access(project), undefined, 'n1')).toEqual(made);
    expect(await f.service.get(op, f.access(project), undefined, made.id.toUpperCase())).toEqual(made);
    const by = { principal: 'u', requestId: 'r' };
    const changed = await f.db.database.tx((tx) =>
      f.service.update(tx, f.access(project, 'network:update'), undefined, 'n1', { description: 'x' }, by),
    );
    expect(changed).toEqual({ ...made, description: 'x' });
    await f.db.database.tx((tx) => f.service.remove(tx, f.access(project, 'network:delete'), undefined, made.id));
    expect(await code(f.service.get(op, f.access(project), undefined, made.id))).toBe('not_found');
    expect(f.outbox.events.map((e) => e.type)).toEqual(['network.created', 'network.updated', 'network.deleted']);
  });

  it('of other projects are not there, may overlap and have the same name', async () => {
    const [mine, other] = [randomUUID(), randomUUID()];
    const a = await f.create(mine, { name: 'same', subnet: '10.20.0.0/24' });
    await f.create(other, { name: 'same', subnet: '10.20.0.0/24' });
    const { op } = f.db.database;
    expect(await code(f.service.get(op, f.access(other), undefined, a.id))).toBe('not_found');
    expect((await f.service.get(op, f.access(other), undefined, 'same')).id).not.toBe(a.id);
    expect(await code(f.create(mine, { name: 'same', subnet: '10.21.0.0/24' }))).toBe('name_taken');
    expect(await code(f.db.database.tx((tx) => f.ports.check(tx, other, [{ network: a.id }], 'body.networks')))).toBe(
      'not_found',
    );
  });

  it('cannot be renamed to a taken name', async () => {
    const project = randomUUID();
    await f.create(project, { name: 'a', subnet: '10.0.0.0/24' });
    await f.create(project, { name: 'b', subnet: '10.0.0.0/24' });
    expect(
      await code(
        f.db.database.tx((tx) =>
          f.service.update(
            tx,
            f.access(project, 'network:update'),
            undefined,
            'b',
            { name: 'a' },
            { principal: 'u', requestId: 'r' },
          ),
        ),
      ),
    ).toBe('name_taken');
  });

  it('in use cannot be deleted, and the refusal names who', async () => {
    const project = randomUUID();
    const network = await f.create(project, { name: 'n', subnet: '10.0.0.0/24' });
    const instanceId = randomUUID();
    await f.allocate(project, [{ networkId: network.id }], instanceId);
    const removed = f.db.database.tx((tx) => f.service.remove(tx, f.access(project, 'network:delete'), undefined, 'n'));
    await expect(removed).rejects.toMatchObject({
      code: 'network_in_use',
      extra: {
        count: 1,
        users: [
          {
            kind: 'instance',
            id: instanceId,
            name: `h-${instanceId.slice(0, 8)}`,
            href: `/api/v1/instances/${instanceId}`,
          },
        ],
      },
    });
    await f.release(instanceId);
    await f.db.database.tx((tx) => f.service.remove(tx, f.access(project, 'network:delete'), undefined, 'n'));
  });

  it('are listed page by page, each once, with their usage', async () => {
    const project = randomUUID();
    for (let i = 0; i < 7; i += 1) await f.create(project, { name: `n${i}`, subnet: '10.0.0.0/29' });
    const first = await f.service.get(f.db.database.op, f.access(project), undefined, 'n3');
    await f.allocate(project, [{ networkId: first.id }, { networkId: first.id }]);
    const seen: { name: string; used: number }[] = [];
    let cursor: string | undefined;
    do {
      const got = await f.service.list(f.db.database.op, f.access(project), undefined, { limit: 3, cursor });
      seen.push(...got.items.map((n) => ({ name: n.name, used: n.addresses.used })));
      cursor = got.next ?? undefined;
    } while (cursor !== undefined);
    expect(seen.map((n) => n.name)).toEqual(['n6', 'n5', 'n4', 'n3', 'n2', 'n1', 'n0']);
    expect(seen.map((n) => n.used)).toEqual([0, 0, 0, 2, 0, 0, 0]);
  });

  it('tell hosts with ports when their DNS servers change', async () => {
    const project = randomUUID();
    const host = randomUUID();
    const network = await f.create(project, { name: 'n', subnet: '10.0.0.0/24' });
    await f.allocate(project, [{ networkId: network.id }], randomUUID(), host);
    f.workflows.started.length = 0;
    await f.db.database.tx((tx) =>
      f.service.update(
        tx,
        f.access(project, 'network:update'),
        undefined,
        'n',
        { dns: ['9.9.9.9'] },
        { principal: 'u', requestId: 'r' },
      ),
    );
    expect(f.workflows.started).toEqual([{ type: 'host.sync-network', input: { hostId: host } }]);
    const document = await f.db.database.tx((tx) => f.ports.document(tx, host));
    expect(document.networks[0]?.dns).toEqual(['9.9.9.9']);
  });
});

describe('addresses', () => {
  it.each(['10.1.0.0/29', '10.1.0.8/29', '192.168.0.240/28'])(
    'of %s are exactly as many as promised, under 50 parallel allocations',
    async (subnet) => {
      const project = randomUUID();
      const network = await f.create(project, { name: 'n', subnet });
      const ids = Array.from({ length: 50 }, () => randomUUID());
      const results = await Promise.allSettled(ids.map((id) => f.allocate(project, [{ networkId: network.id }], id)));
      const addresses = results.flatMap((r) => (r.status === 'fulfilled' ? r.value.map((p) => p.address) : []));
      const refusals = results.flatMap((r) => (r.status === 'rejected' ? [(r.reason as Problem).code] : []));
      const total = usableCount(parseSubnet(subnet));
      expect(network.addresses.total).toBe(total);
      expect(new Set(addresses).size).toBe(total);
      expect(addresses).toHaveLength(total);
      expect(refusals).toEqual(Array.from({ length: 50 - total }, () => 'no_free_address'));
      for (const bad of [network.gateway, subnet.split('/')[0]]) expect(addresses).not.toContain(bad);
      const shown = await f.service.get(f.db.database.op, f.access(project), undefined, 'n');
      expect(shown.addresses.used).toBe(total);
      expect(await code(f.ports.check(f.db.database.op, project, [{ network: 'n' }], 'body.networks'))).toBe(
        'no_free_address',
      );
    },
  );

  it('are all given out wherever the gateway is', async () => {
    const project = randomUUID();
    for (const [index, gateway] of ['10.2.0.1', '10.2.0.3', '10.2.0.6'].entries()) {
      const network = await f.create(project, { name: `g${index}`, subnet: '10.2.0.0/29', gateway });
      const got: string[] = [];
      for (let i = 0; i < 5; i += 1)
        got.push((await f.allocate(project, [{ networkId: network.id }]))[0]?.address ?? '');
      expect(got.sort()).toEqual([1, 2, 3, 4, 5, 6].map((n) => `10.2.0.${n}`).filter((a) => a !== gateway));
      expect(await code(f.allocate(project, [{ networkId: network.id }]))).toBe('no_free_address');
    }
  });

  it('cool down after a release, and only then are usable again', async () => {
    const project = randomUUID();
    const network = await f.create(project, { name: 'n', subnet: '10.3.0.0/29' });
    const ids = Array.from({ length: 5 }, () => randomUUID());
    for (const id of ids) await f.allocate(project, [{ networkId: network.id }], id);
    const [first = ''] = ids;
    const freed = (await f.ports.of(f.db.database.op, [first])).get(first)?.[0]?.address;
    await f.release(first);
    expect(await code(f.allocate(project, [{ networkId: network.id }]))).toBe('no_free_address');
    expect(await code(f.allocate(project, [{ networkId: network.id, address: freed ?? '' }]))).toBe('address_in_use');
    await f.coolDown();
    expect((await f.allocate(project, [{ networkId: network.id }]))[0]?.address).toBe(freed);
  });

  it('leave no trace after a hundred instances came and went', async () => {
    const project = randomUUID();
    const network = await f.create(project, { name: 'n', subnet: '10.4.0.0/24' });
    for (let i = 0; i < 100; i += 1) {
      const id = randomUUID();
      await f.allocate(project, [{ networkId: network.id }, { networkId: network.id }], id);
      await f.release(id);
      if (i % 40 === 39) await f.coolDown();
    }
    expect((await f.service.get(f.db.database.op, f.access(project), undefined, 'n')).addresses).toEqual({
      total: 253,
      used: 0,
    });
    await f.coolDown();
    await f.allocate(project, [{ networkId: network.id }]);
    expect(await f.db.database.query('SELECT 1 FROM address_cooldown WHERE network_id = $1', [network.id])).toEqual([]);
  });

  it('that were asked for are checked and given', async () => {
    const project = randomUUID();
    const network = await f.create(project, { name: 'n', subnet: '10.5.0.0/24' });
    const check = (nics: { network: string; address?: string }[]): Promise<string> =>
      code(f.ports.check(f.db.database.op, project, nics, 'body.networks'));
    expect(await check([{ network: 'n', address: '10.6.0.5' }])).toBe('address_outside');
    expect(await check([{ network: 'n', address: '10.5.0.1' }])).toBe('address_not_usable');
    expect(await check([{ network: 'n', address: '10.5.0.255' }])).toBe('address_not_usable');
    expect(
      await check([
        { network: 'n', address: '10.5.0.9' },
        { network: network.id, address: '10.5.0.9' },
      ]),
    ).toBe('duplicate_address');
    expect(await check([{ network: 'nix' }])).toBe('not_found');
    await expect(
      f.ports.check(
        f.db.database.op,
        project,
        [{ network: 'n' }, { network: 'n', address: '10.6.0.5' }],
        'body.networks',
      ),
    ).rejects.toMatchObject({ errors: [{ path: 'body.networks.1.address' }] });
    const instanceId = randomUUID();
    const ports = await f.allocate(
      project,
      [{ networkId: network.id }, { networkId: network.id, address: '10.5.0.2' }],
      instanceId,
    );
    expect(ports.map((p) => p.address)).toEqual(['10.5.0.3', '10.5.0.2']);
    expect(await check([{ network: 'n', address: '10.5.0.2' }])).toBe('address_in_use');
    expect(await f.allocate(project, [{ networkId: network.id }], instanceId)).toEqual(ports);
    expect((await f.ports.of(f.db.database.op, [instanceId])).get(instanceId)).toEqual(ports);
  });

  it('of a failed allocation are not kept', async () => {
    const project = randomUUID();
    const wide = await f.create(project, { name: 'wide', subnet: '10.7.0.0/24' });
    const tight = await f.create(project, { name: 'tight', subnet: '10.8.0.0/29' });
    for (let i = 0; i < 5; i += 1) await f.allocate(project, [{ networkId: tight.id }]);
    expect(await code(f.allocate(project, [{ networkId: wide.id }, { networkId: tight.id }]))).toBe('no_free_address');
    expect((await f.service.get(f.db.database.op, f.access(project), undefined, 'wide')).addresses.used).toBe(0);
  });

  it('have MACs that no other port has', async () => {
    const rows = await f.db.database.query<{ all: number; distinct: number }>(
      'SELECT count(*)::int AS all, count(DISTINCT mac)::int AS distinct FROM port',
    );
    expect(rows[0]?.all).toBe(rows[0]?.distinct);
  });
});

describe('host documents', () => {
  it('come with rising generations, and a later one has everything of an earlier one', async () => {
    const project = randomUUID();
    const host = randomUUID();
    const network = await f.create(project, { name: 'n', subnet: '10.9.0.0/24', nat: false });
    const documents = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const id = randomUUID();
        await f.allocate(project, [{ networkId: network.id }], id, host);
        return { id, document: await f.db.database.tx((op) => f.ports.document(op, host)) };
      }),
    );
    documents.sort((a, b) => a.document.generation - b.document.generation);
    expect(documents.map((d) => d.document.generation)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
    const portsOf = (d: (typeof documents)[number]): string[] =>
      d.document.networks.flatMap((n) => n.ports.map((p) => p.instanceId));
    for (const [i, d] of documents.entries()) {
      expect(portsOf(d)).toContain(d.id);
      const before = documents[i - 1];
      if (before) expect(portsOf(d)).toEqual(expect.arrayContaining(portsOf(before)));
    }
    const last = documents.at(-1)?.document.networks[0];
    expect(last).toMatchObject({ subnet: '10.9.0.0/24', gateway: '10.9.0.1', nat: false, mtu: 1450, dns: [] });
    expect(last?.ports).toHaveLength(30);
    await expect(f.ports.document(f.db.database.op, host)).rejects.toThrow('transaction');
  });

  it('say of each port which card it is, and of one per instance that it is the way out', async () => {
    const project = randomUUID();
    const host = randomUUID();
    const [lonely, first, second] = [
      await f.create(project, { name: 'lonely', subnet: '10.13.0.0/24', nat: false }),
      await f.create(project, { name: 'first', subnet: '10.14.0.0/24' }),
      await f.create(project, { name: 'second', subnet: '10.15.0.0/24' }),
    ];
    const instance = randomUUID();
    await f.allocate(
      project,
      [{ networkId: lonely.id }, { networkId: second.id, address: '10.15.0.9' }, { networkId: first.id }],
      instance,
      host,
    );
    await f.allocate(project, [{ networkId: first.id }], randomUUID(), host);
    const { networks } = await f.db.database.tx((op) => f.ports.document(op, host));
    const cards = networks
      .flatMap((n) =>
        n.ports.filter((p) => p.instanceId === instance).map((p) => [n.subnet, p.position, p.defaultRoute]),
      )
      .sort(([, a], [, b]) => Number(a) - Number(b));
    expect(cards).toEqual([
      ['10.13.0.0/24', 0, false],
      ['10.15.0.0/24', 1, true],
      ['10.14.0.0/24', 2, false],
    ]);
    expect(networks.flatMap((n) => n.ports).filter((p) => p.instanceId !== instance)).toEqual([
      expect.objectContaining({ position: 0, defaultRoute: true }),
    ]);
    const shown = await f.service.listPorts(f.db.database.op, f.access(project, 'port:read'), undefined, {
      limit: 50,
      instance,
    });
    expect(shown.items.map((p) => [p.network, p.position]).sort(([, a], [, b]) => Number(a) - Number(b))).toEqual([
      ['lonely', 0],
      ['second', 1],
      ['first', 2],
    ]);
  });

  it('say that the way out is the card for which its user asked', async () => {
    const project = randomUUID();
    const host = randomUUID();
    const near = await f.create(project, { name: 'near', subnet: '10.16.0.0/24' });
    const far = await f.create(project, { name: 'far', subnet: '10.17.0.0/24' });
    await f.create(project, { name: 'closed', subnet: '10.18.0.0/24', nat: false });
    await f.allocate(project, [{ networkId: near.id }, { networkId: far.id, defaultRoute: true }], randomUUID(), host);
    const { networks } = await f.db.database.tx((op) => f.ports.document(op, host));
    expect(networks.map((n) => [n.subnet, n.ports[0]?.defaultRoute]).sort()).toEqual([
      ['10.16.0.0/24', false],
      ['10.17.0.0/24', true],
    ]);
    const check = (nics: { network: string; defaultRoute?: boolean }[]): Promise<unknown> =>
      f.ports.check(f.db.database.op, project, nics, 'body.networks');
    expect(await check([{ network: 'near' }, { network: 'far', defaultRoute: true }])).toEqual([
      { networkId: near.id },
      { networkId: far.id, defaultRoute: true },
    ]);
    expect(
      await code(
        check([
          { network: 'near', defaultRoute: true },
          { network: 'far', defaultRoute: true },
        ]),
      ),
    ).toBe('several_default_routes');
    expect(await code(check([{ network: 'closed', defaultRoute: true }]))).toBe('no_way_out');
  });

  it('lose a network with its last port', async () => {
    const project = randomUUID();
    const [host, instanceId] = [randomUUID(), randomUUID()];
    const network = await f.create(project, { name: 'n', subnet: '10.9.0.0/24' });
    await f.allocate(project, [{ networkId: network.id }], instanceId, host);
    await f.release(instanceId);
    expect(await f.db.database.tx((op) => f.ports.document(op, host))).toEqual({
      generation: 1,
      networks: [],
      egress: { allow: [], deny: [], hosts: [] },
    });
  });

  it('are answered with port states; a failed or missing port ends the create', async () => {
    const project = randomUUID();
    const [host, instanceId] = [randomUUID(), randomUUID()];
    const network = await f.create(project, { name: 'n', subnet: '10.9.0.0/24' });
    const [port] = await f.allocate(project, [{ networkId: network.id }], instanceId, host);
    const id = port?.id ?? '';
    const list = async (roles: 'admin'[] = []): Promise<{ state: string; message: string }[]> =>
      (
        await f.service.listPorts(f.db.database.op, f.access(project, 'port:read', roles), undefined, {
          ...page,
          instance: instanceId,
        })
      ).items;
    expect(await list()).toMatchObject([{ state: 'down', network: 'n', instanceId }]);
    const applied = (ports: { id: string; state: 'active' | 'error'; message: string }[]): Promise<void> =>
      f.db.database.tx((op) => f.ports.applied(op, { generation: 1, superseded: false, ports }, instanceId));
    await applied([{ id, state: 'active', message: '' }]);
    expect(await list()).toMatchObject([{ state: 'active' }]);
    await expect(applied([{ id, state: 'error', message: 'no tap' }])).rejects.toMatchObject({ code: 'port_failed' });
    await expect(applied([])).rejects.toMatchObject({ code: 'port_failed' });
    await f.db.database.tx((op) => f.sink.accept(op, host, { generation: 1, failed: [{ id, message: 'drifted' }] }));
    expect(await list()).toMatchObject([
      { state: 'error', message: 'Its host could not set it up. An administrator sees why.' },
    ]);
    expect(await list(['admin'])).toMatchObject([{ state: 'error', message: 'drifted' }]);
    await f.db.database.tx((op) => f.sink.accept(op, host, { generation: 1, failed: [] }));
    expect(await list()).toMatchObject([{ state: 'active', message: '' }]);
  });

  it('say whether guests of the host have a way out', async () => {
    const host = randomUUID();
    const report = (unknownMachines?: string[]): Promise<void> =>
      f.db.database.tx((op) =>
        f.sink.accept(op, host, { generation: 1, failed: [], ...(unknownMachines && { unknownMachines }) }),
      );
    await report();
    expect(f.conditions.of(host)).toEqual([]);
    await report(['hv-09.example', 'hv-10.example']);
    expect(f.conditions.of(host)).toMatchObject([
      { type: 'GuestEgress', status: 'false', message: expect.stringContaining('hv-09.example, hv-10.example') },
    ]);
    await report([]);
    expect(f.conditions.of(host)).toMatchObject([{ type: 'GuestEgress', status: 'true' }]);
  });

  it('show it where management processes are told different things of the way out', async () => {
    const health = new HealthChecks();
    const [mine, same, other] = [
      f.agreement({ deny: ['10.0.0.0/8'] }, health),
      f.agreement({ deny: ['10.0.0.0/8'] }, new HealthChecks()),
      f.agreement({}, new HealthChecks()),
    ];
    const shown = async (): Promise<unknown> => {
      await mine.look();
      // The page keeps an answer for a second: asked anew, it looks anew.
      await mine.start();
      return (await health.report()).checks['guest-egress'];
    };
    await same.look();
    expect(await shown()).toEqual({ status: 'healthy' });
    await other.look();
    expect(await shown()).toEqual({ status: 'degraded', message: expect.stringContaining('network.guestEgress') });
    await other.stop();
    expect(await shown()).toEqual({ status: 'healthy' });
    await other.look();
    await f.db.database.query(`UPDATE guest_egress_setting SET seen_at = now() - interval '1 minute'`);
    expect(await shown()).toEqual({ status: 'healthy' });
    await mine.stop();
    expect(await f.db.database.query('SELECT 1 FROM guest_egress_setting')).toEqual([]);
  });

  describe('are given again', () => {
    /** Hosts that the next documents know of. */
    const hear = async (...ids: string[]): Promise<void> => {
      for (const id of ids) f.hosts.hosts.push({ id, address: `192.0.2.${f.hosts.hosts.length + 1}` });
      await f.reconciler.round();
    };
    const documents = async (host: string, count: number): Promise<void> => {
      for (let i = 0; i < count; i += 1) await f.db.database.tx((op) => f.ports.document(op, host));
    };
    const reports = (host: string, generation: number): Promise<void> =>
      f.db.database.tx((op) => f.sink.accept(op, host, { generation, failed: [] }));
    const minuteLater = (): Promise<unknown> =>
      f.db.database.query(
        `UPDATE host_network_generation SET changed_at = changed_at - interval '1 minute', asked_at = asked_at - interval '1 minute'`,
      );
    const started = (): unknown[] => f.workflows.started.splice(0);

    beforeEach(() => {
      f.hosts.hosts.length = 0;
      f.workflows.started.length = 0;
    });

    it('to a host that is heard and has an older one, once it had its time, and not twice in a minute', async () => {
      const [late, silent, current] = [randomUUID(), randomUUID(), randomUUID()];
      await hear(late, current);
      for (const host of [late, silent, current]) {
        await documents(host, 2);
        await reports(host, 1);
      }
      await reports(current, 2);
      await f.reconciler.round();
      expect(started()).toEqual([]);
      await minuteLater();
      await f.reconciler.round();
      await f.reconciler.round();
      expect(started()).toEqual([{ type: 'host.sync-network', input: { hostId: late } }]);
      await minuteLater();
      await f.reconciler.round();
      expect(started()).toEqual([{ type: 'host.sync-network', input: { hostId: late } }]);
      await reports(late, 2);
      await minuteLater();
      await f.reconciler.round();
      expect(started()).toEqual([]);
    });

    it("to hosts that do not know yet which addresses the cloud's machines have now", async () => {
      const [old, added] = [randomUUID(), randomUUID()];
      await hear(old);
      await documents(old, 1);
      await reports(old, 1);
      expect((await f.db.database.tx((op) => f.ports.document(op, old))).egress.hosts).toEqual(['192.0.2.1']);
      await hear(added);
      expect(started()).toEqual([{ type: 'host.sync-network', input: { hostId: old } }]);
      expect((await f.db.database.tx((op) => f.ports.document(op, old))).egress.hosts).toEqual([
        '192.0.2.1',
        '192.0.2.2',
      ]);
      await f.reconciler.round();
      expect(started()).toEqual([]);
    });

    it('to a host that was up to date before the newest was made and has said nothing since', async () => {
      const host = randomUUID();
      await hear(host);
      await documents(host, 1);
      await reports(host, 1);
      await documents(host, 1);
      await minuteLater();
      await f.reconciler.round();
      expect(started()).toEqual([{ type: 'host.sync-network', input: { hostId: host } }]);
    });
  });
});
