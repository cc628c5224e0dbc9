import { randomUUID } from 'node:crypto';
import type { Op } from '../../../src/core/db/rows/op';
import { createRouter } from '../../../src/modules/network/contract/router.api';
import { createSubnet } from '../../../src/modules/network/contract/subnet.api';
import { NetworkFixture } from './network-fixture';
import { code } from './problem-code';

jest.setTimeout(60_000);

let f: NetworkFixture;
let project: string;
beforeAll(async () => {
  f = await NetworkFixture.start();
}, 60_000);
afterAll(() => f.db.close());
beforeEach(() => {
  project = randomUUID();
});

const by = { principal: 'u', requestId: 'r' };
const tx = <T>(work: (op: Op) => Promise<T>): Promise<T> => f.db.database.tx(work);
const subnet = (network: string, name: string, cidr: string) =>
  tx((op) => f.subnetService.create(op, project, createSubnet.parse({ network, name, cidr }), by));
const router = (name: string, snat = true) =>
  tx((op) => f.routerService.create(op, project, createRouter.parse({ name, snat })));
const join = (of: string, on: string, who = project) =>
  tx((op) => f.routerService.addSubnet(op, f.access(who, 'router:update'), who, { router: of, subnet: on }, by));
const part = (of: string, on: string) =>
  tx((op) =>
    f.routerService.removeSubnet(op, f.access(project, 'router:update'), project, { router: of, subnet: on }, by),
  );
const removeSubnet = (name: string) =>
  tx((op) => f.subnetService.remove(op, f.access(project, 'subnet:delete'), project, name, by));
const documentOf = (host: string, instance: string) => tx((op) => f.ports.document(op, host, { attach: instance }));

describe('subnets', () => {
  it('of one network do not overlap, also when two are made at the same moment', async () => {
    const network = await f.create(project, { name: 'n', subnet: '10.30.0.0/24' });
    expect(await code(subnet('n', 'inner', '10.30.0.128/25'))).toBe('subnet_overlaps');
    expect(await code(subnet('n', 'n', '10.31.0.0/24'))).toBe('name_taken');
    expect(await code(subnet('absent', 'x', '10.31.0.0/24'))).toBe('not_found');
    expect(await code(subnet('n', 'x', '169.254.0.0/24'))).toBe('subnet_reserved');
    const both = await Promise.allSettled([subnet('n', 'a', '10.31.0.0/24'), subnet('n', 'b', '10.31.0.0/23')]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const shown = await f.service.get(f.db.database.op, f.access(project), undefined, network.id);
    expect(shown.subnets).toHaveLength(2);
  });

  it('give their addresses in the order in which they were made, and the one that is asked for', async () => {
    const network = await f.create(project, { name: 'n', subnet: '10.32.0.0/29' });
    await subnet('n', 'second', '10.33.0.0/24');
    const host = randomUUID();
    const given: string[] = [];
    for (let i = 0; i < 6; i += 1) {
      const [port] = await f.allocate(project, [{ networkId: network.id }], randomUUID(), host);
      given.push(port?.address ?? '');
    }
    expect(given).toEqual(['10.32.0.2', '10.32.0.3', '10.32.0.4', '10.32.0.5', '10.32.0.6', '10.33.0.2']);
    const asked = { networkId: network.id, address: '10.33.0.77' };
    const instance = randomUUID();
    expect((await f.allocate(project, [asked], instance, host))[0]?.address).toBe('10.33.0.77');
    const at = (address: string) =>
      code(f.ports.check(f.db.database.op, project, [{ network: 'n', address }], () => 'body'));
    expect([await at('10.33.0.77'), await at('10.34.0.1'), await at('10.33.0.1')]).toEqual([
      'address_in_use',
      'address_outside',
      'address_not_usable',
    ]);
    const [only] = (await documentOf(host, instance)).networks;
    expect(only?.subnets.map(({ cidr }) => cidr)).toEqual(['10.32.0.0/29', '10.33.0.0/24']);
    expect(only?.ports.map(({ addresses }) => addresses)).toEqual([
      [{ subnetId: only?.subnets[1]?.id, address: '10.33.0.77' }],
    ]);
  });

  it('are kept while an instance has an address of them, and leave their router when they go', async () => {
    const network = await f.create(project, { name: 'n', subnet: '10.35.0.0/24' });
    await subnet('n', 'more', '10.36.0.0/24');
    await join('n', 'more');
    const instance = randomUUID();
    await f.allocate(project, [{ networkId: network.id, address: '10.36.0.9' }], instance);
    expect(await code(removeSubnet('more'))).toBe('subnet_in_use');
    await f.release(instance);
    await removeSubnet('more');
    const [shown] = (await f.routerService.list(f.db.database.op, f.access(project), project, { limit: 5 })).items;
    expect(shown?.subnets.map(({ name }) => name)).toEqual(['n']);
    expect(await code(f.allocate(project, [{ networkId: network.id, address: '10.36.0.9' }]))).toBe('no_such_subnet');
  });

  it('may be missing: such a network gives no address', async () => {
    const network = await f.create(project, { name: 'bare' });
    expect(network).toMatchObject({ subnets: [], router: null, guestEgress: null, addresses: { total: 0, used: 0 } });
    expect(await code(f.ports.check(f.db.database.op, project, [{ network: 'bare' }], () => 'body'))).toBe(
      'no_free_address',
    );
    expect(await code(f.allocate(project, [{ networkId: network.id }]))).toBe('no_free_address');
  });
});

describe('routers', () => {
  it('join subnets of several networks: every host behind them gets all of these', async () => {
    const near = await f.create(project, { name: 'near', subnet: '10.40.0.0/24', nat: false });
    const far = await f.create(project, { name: 'far', subnet: '10.41.0.0/24', nat: false });
    const [here, there] = [randomUUID(), randomUUID()];
    const [mine, other] = [randomUUID(), randomUUID()];
    await f.allocate(project, [{ networkId: near.id }], mine, here);
    await f.allocate(project, [{ networkId: far.id }], other, there);
    await documentOf(there, other);
    expect((await documentOf(here, mine)).networks.map(({ id }) => id)).toEqual([near.id]);
    await router('r', false);
    await join('r', 'near');
    f.workflows.started.length = 0;
    const joined = await join('r', 'far');
    expect(joined.subnets.map(({ network }) => network)).toEqual(['far', 'near']);
    const hosts = () => f.workflows.started.map(({ input }) => (input as { hostId: string }).hostId).sort();
    expect(hosts()).toEqual([here, there].sort());
    const document = await documentOf(here, mine);
    expect(document.networks.map(({ id }) => id).sort()).toEqual([near.id, far.id].sort());
    expect(document.routers).toEqual([
      {
        id: joined.id,
        snat: false,
        interfaces: expect.arrayContaining([expect.objectContaining({ networkId: far.id })]),
      },
    ]);
    // Of the other network this host has no port.
    expect(document.networks.find(({ id }) => id === far.id)?.ports).toEqual([]);
    f.workflows.started.length = 0;
    expect((await part('r', 'far')).subnets.map(({ name }) => name)).toEqual(['near']);
    expect(hosts()).toEqual([here, there].sort());
    expect((await documentOf(here, mine)).networks.map(({ id }) => id)).toEqual([near.id]);
    expect(await code(part('r', 'far'))).toBe('subnet_not_on_router');
  });

  it('tell hosts behind them when a network of theirs is deleted that has no port', async () => {
    const near = await f.create(project, { name: 'near', subnet: '10.42.0.0/24', nat: false });
    const far = await f.create(project, { name: 'far', subnet: '10.43.0.0/24', nat: false });
    const [host, mine] = [randomUUID(), randomUUID()];
    await f.allocate(project, [{ networkId: near.id }], mine, host);
    await router('r', false);
    for (const name of ['near', 'far']) await join('r', name);
    expect((await documentOf(host, mine)).networks).toHaveLength(2);
    f.workflows.started.length = 0;
    await tx((op) => f.service.remove(op, f.access(project, 'network:delete'), project, far.id, by));
    expect(f.workflows.started).toEqual([{ type: 'host.sync-network', input: { hostId: host } }]);
    expect((await documentOf(host, mine)).networks.map(({ id }) => id)).toEqual([near.id]);
  });

  it('give a guest its way out by the card whose subnet is on one', async () => {
    const half = await f.create(project, { name: 'half', subnet: '10.44.0.0/24' });
    await subnet('half', 'off', '10.45.0.0/24');
    const whole = await f.create(project, { name: 'whole', subnet: '10.46.0.0/24' });
    const [host, mine] = [randomUUID(), randomUUID()];
    const nics = [{ networkId: half.id, address: '10.45.0.9' }, { networkId: whole.id }];
    await f.allocate(project, nics, mine, host);
    const { networks } = await documentOf(host, mine);
    const ways = networks.flatMap(({ id, ports }) => ports.map(({ defaultRoute }) => [id, defaultRoute]));
    expect(Object.fromEntries(ways)).toEqual({ [half.id]: false, [whole.id]: true });
  });

  it('have no subnets that overlap, and networks that are on no other one', async () => {
    for (const [name, cidr] of [
      ['a', '10.50.0.0/24'],
      ['b', '10.50.0.0/25'],
    ] as const)
      await f.create(project, { name, subnet: cidr, nat: false });
    await subnet('a', 'a-2', '10.51.0.0/24');
    await router('one');
    await router('two');
    await join('one', 'a');
    expect(await join('one', 'a')).toMatchObject({ subnets: [{ name: 'a' }] });
    expect(await code(join('one', 'b'))).toBe('subnet_overlaps');
    expect(await code(join('two', 'a'))).toBe('subnet_has_router');
    expect(await code(join('two', 'a-2'))).toBe('network_has_router');
    const remove = () => tx((op) => f.routerService.remove(op, f.access(project, 'router:delete'), project, 'one'));
    expect(await code(remove())).toBe('router_in_use');
    await part('one', 'a');
    await remove();
    expect((await join('two', 'a-2')).subnets).toHaveLength(1);
  });

  it('take no subnet of another project, by name or id', async () => {
    const theirs = randomUUID();
    await f.create(theirs, { name: 'theirs', subnet: '10.60.0.0/24', nat: false });
    const id = (await f.service.get(f.db.database.op, f.access(theirs), theirs, 'theirs')).subnets[0]?.id ?? '';
    await router('r');
    expect([await code(join('r', 'theirs')), await code(join('r', id))]).toEqual(['not_found', 'not_found']);
    expect(await code(join('r', id, theirs))).toBe('not_found');
  });

  it('that a network was made with go with it, and others stay', async () => {
    const network = await f.create(project, { name: 'n', subnet: '10.61.0.0/24' });
    await router('kept');
    const names = async () =>
      (await f.routerService.list(f.db.database.op, f.access(project), project, { limit: 9 })).items.map(
        ({ name }) => name,
      );
    expect((await names()).sort()).toEqual(['kept', 'n']);
    await tx((op) => f.service.remove(op, f.access(project, 'network:delete'), project, network.id, by));
    expect(await names()).toEqual(['kept']);
  });

  it('decide whether guests reach the outside', async () => {
    const network = await f.create(project, { name: 'n', subnet: '10.62.0.0/24' });
    const [host, instance] = [randomUUID(), randomUUID()];
    await f.allocate(project, [{ networkId: network.id }], instance, host);
    expect((await documentOf(host, instance)).networks[0]?.ports[0]?.defaultRoute).toBe(true);
    f.workflows.started.length = 0;
    await tx((op) => f.routerService.update(op, f.access(project, 'router:update'), project, 'n', { snat: false }, by));
    expect(f.workflows.started).toHaveLength(1);
    expect((await documentOf(host, instance)).networks[0]?.ports[0]?.defaultRoute).toBe(false);
    const asked = [{ network: 'n', defaultRoute: true }];
    expect(await code(f.ports.check(f.db.database.op, project, asked, () => 'body'))).toBe('no_way_out');
  });
});
