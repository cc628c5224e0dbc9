import { randomUUID } from 'node:crypto';
import { Problem } from '../../../src/core/errors/problem';
import { usableCount, parseSubnet } from '../../../src/modules/network/contract/ipv4';
import { waitFor } from '../../support/wait-for';
import { NetworkFixture } from './network-fixture';
import { code } from './problem-code';

jest.setTimeout(60_000);

let f: NetworkFixture;
beforeAll(async () => {
  f = await NetworkFixture.start();
}, 60_000);
afterAll(() => f.db.close());

/** Whether somebody waits for the end of a network's delete. */
const isWaiting = async (): Promise<boolean> =>
  (await f.db.database.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)).length > 0;

const by = { principal: 'u', requestId: 'r' };

/** Where the cards of a create stand in its body. */
const atNetworks = (index: number): string => `body.networks.${index}`;

describe('networks', () => {
  it('live through create, show by id and name, change and delete, each an event', async () => {
    const project = randomUUID();
    f.outbox.events.length = 0;
    const made = await f.create(project, { name: 'n1', subnet: '10.10.0.0/24', dns: ['1.1.1.1', '1.1.1.1'] });
    expect(made).toMatchObject({
      name: 'n1',
      mtu: 1450,
      subnets: [{ name: 'n1', cidr: '10.10.0.0/24', gateway: '10.10.0.1', dns: ['1.1.1.1'] }],
      router: { name: 'n1', snat: true },
      addresses: { total: 253, used: 0 },
    });
    const { op } = f.db.database;
    expect(await f.service.get(op, f.access(project), undefined, 'n1')).toEqual(made);
    expect(await f.service.get(op, f.access(project), undefined, made.id.toUpperCase())).toEqual(made);
    const changed = await f.db.database.tx((tx) =>
      f.service.update(tx, f.access(project, 'network:update'), undefined, 'n1', { description: 'x' }),
    );
    expect(changed).toEqual({ ...made, description: 'x' });
    await f.db.database.tx((tx) => f.service.remove(tx, f.access(project, 'network:delete'), undefined, made.id, by));
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
    expect(await code(f.db.database.tx((tx) => f.ports.check(tx, other, [{ network: a.id }], atNetworks)))).toBe(
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
          f.service.update(tx, f.access(project, 'network:update'), undefined, 'b', { name: 'a' }),
        ),
      ),
    ).toBe('name_taken');
  });

  it('in use cannot be deleted, and the refusal names who', async () => {
    const project = randomUUID();
    const network = await f.create(project, { name: 'n', subnet: '10.0.0.0/24' });
    const instanceId = randomUUID();
    await f.allocate(project, [{ networkId: network.id }], instanceId);
    const removed = f.db.database.tx((tx) =>
      f.service.remove(tx, f.access(project, 'network:delete'), undefined, 'n', by),
    );
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
    await f.db.database.tx((tx) => f.service.remove(tx, f.access(project, 'network:delete'), undefined, 'n', by));
  });

  it('that are deleted and made anew while a create waits for them are the new ones to it, and stay', async () => {
    const project = randomUUID();
    await f.create(project, { name: 'n', subnet: '10.0.0.0/24' });
    const { database } = f.db;
    const check = (wait: Promise<void>) =>
      database.tx(async (tx) => {
        const [nic] = await f.ports.check(tx, project, [{ network: 'n' }], atNetworks);
        await wait;
        return nic?.networkId;
      });
    /** Whether a delete of it would have to wait. */
    const isHeld = async (id: string): Promise<boolean> =>
      !(
        await database.query<{ free: boolean }>(
          `SELECT pg_try_advisory_xact_lock(hashtextextended('network/' || $1, 0)) AS free`,
          [id],
        )
      )[0]?.free;
    let end: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (end = resolve));
    let create: Promise<string | undefined> | undefined;
    const made = await database.tx(async (tx) => {
      await f.service.remove(tx, f.access(project, 'network:delete'), undefined, 'n', by);
      create = check(held);
      await waitFor('the create to wait', isWaiting);
      return f.create(project, { name: 'n', subnet: '10.1.0.0/24' }, tx);
    });
    await waitFor('the new one to be held', () => isHeld(made.id)).finally(end);
    expect(await create).toBe(made.id);
    expect(await isHeld(made.id)).toBe(false);
  });

  it('that are deleted while a create waits for them are not found by it', async () => {
    const project = randomUUID();
    await f.create(project, { name: 'n', subnet: '10.0.0.0/24' });
    const { database } = f.db;
    let create: Promise<string> | undefined;
    await database.tx(async (tx) => {
      await f.service.remove(tx, f.access(project, 'network:delete'), undefined, 'n', by);
      create = code(database.tx((other) => f.ports.check(other, project, [{ network: 'n' }], atNetworks)));
      await waitFor('the create to wait', isWaiting);
    });
    expect(await create).toBe('not_found');
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
    const instance = randomUUID();
    await f.allocate(project, [{ networkId: network.id }], instance, host);
    await f.db.database.tx((tx) => f.ports.document(tx, host, { attach: instance }));
    f.workflows.started.length = 0;
    await f.db.database.tx((tx) =>
      f.subnetService.update(tx, f.access(project, 'subnet:update'), undefined, 'n', { dns: ['9.9.9.9'] }, by),
    );
    expect(f.workflows.started).toEqual([{ type: 'host.sync-network', input: { hostId: host } }]);
    const document = await f.db.database.tx((tx) => f.ports.document(tx, host));
    expect(document.networks[0]?.subnets[0]?.dns).toEqual(['9.9.9.9']);
  });
});

describe('addresses', () => {
  it('are given to many at once without any of them waiting for each other for ever', async () => {
    const project = randomUUID();
    const network = await f.create(project, { name: 'n', subnet: '10.2.0.0/22' });
    const given = new Set<string>();
    for (let round = 0; round < 5; round += 1) {
      const made = await Promise.all(
        Array.from({ length: 50 }, () => f.allocate(project, [{ networkId: network.id }, { networkId: network.id }])),
      );
      for (const port of made.flat()) given.add(port.address);
    }
    expect(given.size).toBe(500);
    // The server counts what it broke up, whoever tried again afterwards.
    await f.db.database.query('SELECT pg_stat_force_next_flush()');
    expect(
      await f.db.database.query('SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()'),
    ).toEqual([{ deadlocks: 0 }]);
  });

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
      for (const bad of [network.subnets[0]?.gateway, subnet.split('/')[0]]) expect(addresses).not.toContain(bad);
      const shown = await f.service.get(f.db.database.op, f.access(project), undefined, 'n');
      expect(shown.addresses.used).toBe(total);
      expect(await code(f.ports.check(f.db.database.op, project, [{ network: 'n' }], atNetworks))).toBe(
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
    expect(
      await f.db.database.query(
        'SELECT 1 FROM address_cooldown a JOIN subnet s ON s.id = a.subnet_id WHERE s.network_id = $1',
        [network.id],
      ),
    ).toEqual([]);
  });

  it('that were asked for are checked and given', async () => {
    const project = randomUUID();
    const network = await f.create(project, { name: 'n', subnet: '10.5.0.0/24' });
    const check = (nics: { network: string; address?: string }[]): Promise<string> =>
      code(f.ports.check(f.db.database.op, project, nics, atNetworks));
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
      f.ports.check(f.db.database.op, project, [{ network: 'n' }, { network: 'n', address: '10.6.0.5' }], atNetworks),
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
