import { randomUUID } from 'node:crypto';
import { HealthChecks } from '../../../src/core/http/server/health-checks';
import { NetworkFixture } from './network-fixture';
import { code } from './problem-code';

jest.setTimeout(60_000);

let f: NetworkFixture;
beforeAll(async () => {
  f = await NetworkFixture.start();
}, 60_000);
afterAll(() => f.db.close());

const page = { limit: 50, cursor: undefined };

describe('host documents', () => {
  it('come with rising generations, and a later one has everything of an earlier one', async () => {
    const project = randomUUID();
    const host = randomUUID();
    const network = await f.create(project, { name: 'n', subnet: '10.9.0.0/24', nat: false });
    const documents = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const id = randomUUID();
        await f.allocate(project, [{ networkId: network.id }], id, host);
        return { id, document: await f.db.database.tx((op) => f.ports.document(op, host, { attach: id })) };
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
    expect(last).toMatchObject({ mtu: 1450, subnets: [{ cidr: '10.9.0.0/24', gateway: '10.9.0.1', dns: [] }] });
    expect(documents.at(-1)?.document.routers).toEqual([]);
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
    const other = randomUUID();
    await f.allocate(project, [{ networkId: first.id }], other, host);
    await f.db.database.tx((op) => f.ports.document(op, host, { attach: other }));
    const { networks } = await f.db.database.tx((op) => f.ports.document(op, host, { attach: instance }));
    const cards = networks
      .flatMap((n) =>
        n.ports.filter((p) => p.instanceId === instance).map((p) => [n.subnets[0]?.cidr, p.position, p.defaultRoute]),
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
    const id = randomUUID();
    await f.allocate(project, [{ networkId: near.id }, { networkId: far.id, defaultRoute: true }], id, host);
    const { networks } = await f.db.database.tx((op) => f.ports.document(op, host, { attach: id }));
    expect(networks.map((n) => [n.subnets[0]?.cidr, n.ports[0]?.defaultRoute]).sort()).toEqual([
      ['10.16.0.0/24', false],
      ['10.17.0.0/24', true],
    ]);
    const check = (nics: { network: string; defaultRoute?: boolean }[]): Promise<unknown> =>
      f.ports.check(f.db.database.op, project, nics, (index) => `body.networks.${index}`);
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

  it('have no port of an instance before a step has begun that takes it away again', async () => {
    const project = randomUUID();
    const [host, mine, theirs] = [randomUUID(), randomUUID(), randomUUID()];
    const network = await f.create(project, { name: 'n', subnet: '10.19.0.0/24' });
    for (const id of [mine, theirs]) await f.allocate(project, [{ networkId: network.id }], id, host);
    const has = async (attaching?: string): Promise<string[]> => {
      const { networks } = await f.db.database.tx((op) =>
        f.ports.document(op, host, attaching === undefined ? undefined : { attach: attaching }),
      );
      return networks.flatMap((n) => n.ports.map((p) => p.instanceId));
    };
    expect(await has(mine)).toEqual([mine]);
    expect(await has()).toEqual([mine]);
    // Theirs is given up before its host heard of it: nobody has to tell the host.
    await f.release(theirs);
    expect(await has()).toEqual([mine]);
    await f.allocate(project, [{ networkId: network.id }], theirs, host);
    expect((await has(theirs)).sort()).toEqual([mine, theirs].sort());
  });

  it('have one port more and one less of an instance that keeps its others', async () => {
    const project = randomUUID();
    const [host, instanceId, portId] = [randomUUID(), randomUUID(), randomUUID()];
    const network = await f.create(project, { name: 'n', subnet: '10.19.0.0/24' });
    const [first] = await f.allocate(project, [{ networkId: network.id }], instanceId, host);
    const change = async (how?: { attach: string } | { detach: string }): Promise<[string, number][]> => {
      const { networks } = await f.db.database.tx((op) => f.ports.document(op, host, how));
      return networks.flatMap((n) => n.ports.map((p): [string, number] => [p.id, p.position]));
    };
    const add = (nic: { networkId: string; address?: string }, id = portId, projectId = project) =>
      f.db.database.tx((op) =>
        f.ports.add(op, { portId: id, instanceId, projectId, hostname: 'h', hostId: host, nic }),
      );
    await change({ attach: instanceId });
    const made = await add({ networkId: network.id, address: '10.19.0.7' });
    expect(made).toMatchObject({ id: portId, network: 'n', address: '10.19.0.7' });
    expect(await add({ networkId: network.id })).toEqual(made);
    expect(await code(add({ networkId: network.id, address: '10.19.0.7' }, randomUUID()))).toBe('address_in_use');
    expect(await code(add({ networkId: network.id }, randomUUID(), randomUUID()))).toBe('not_found');
    expect(await change()).toEqual([[first?.id, 0]]);
    const both = [
      [first?.id, 0],
      [portId, 1],
    ];
    expect(await change({ attach: instanceId })).toEqual(expect.arrayContaining(both));
    // It is gone from the host, and still the instance's, until it is given up or put back.
    expect(await change({ detach: portId })).toEqual([[first?.id, 0]]);
    expect((await f.ports.of(f.db.database.op, [instanceId])).get(instanceId)).toHaveLength(2);
    expect(await change({ attach: instanceId })).toHaveLength(2);
    await f.db.database.tx((op) => f.ports.release(op, instanceId, portId));
    await f.db.database.tx((op) => f.ports.release(op, instanceId, portId));
    expect(await change()).toEqual([[first?.id, 0]]);
    await f.coolDown();
    expect(await add({ networkId: network.id, address: '10.19.0.7' }, randomUUID())).toMatchObject({
      address: '10.19.0.7',
    });
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
      routers: [],
      egress: { allow: [], deny: [], hosts: [] },
      securityGroups: [],
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
