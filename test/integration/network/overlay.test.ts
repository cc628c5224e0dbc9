import { randomUUID } from 'node:crypto';
import type { HostNetworkDocument } from '../../../src/modules/network/contract/host-document';
import { NetworkFixture } from './network-fixture';

jest.setTimeout(60_000);

let f: NetworkFixture;
let project: string;
let network: string;
let hosts: { id: string; address: string }[];

const document = (hostId: string, change?: { attach: string } | { detach: string }): Promise<HostNetworkDocument> =>
  f.db.database.tx((op) => f.ports.document(op, hostId, change));
/** An instance with a port in the document of its host. */
const place = async (hostId: string, networkId = network): Promise<string> => {
  const instance = randomUUID();
  await f.allocate(project, [{ networkId }], instance, hostId);
  await document(hostId, { attach: instance });
  return instance;
};
const host = (n: number): string => hosts[n]?.id ?? '';
const report = (hostId: string, address: string | null, mtu = 1500): Promise<void> =>
  f.db.database.tx((op) => f.underlays.report(op, hostId, address === null ? null : { address, mtu }));
const told = (): string[] =>
  f.workflows.started
    .splice(0)
    .map(({ input }) => (input as { hostId: string }).hostId)
    .sort();
/** Hosts that a round gives their newest document. */
const round = async (): Promise<string[]> => {
  await f.overlaySync.round();
  return told();
};

beforeAll(async () => {
  f = await NetworkFixture.start();
}, 60_000);
afterAll(() => f.db.close());
beforeEach(async () => {
  project = randomUUID();
  network = (await f.create(project, { name: 'n', subnet: '10.40.0.0/24', nat: false })).id;
  hosts = [1, 2, 3].map((n) => ({ id: randomUUID(), address: `192.0.2.${n}` }));
  f.hosts.hosts.splice(0, Infinity, ...hosts);
  for (const { id, address } of hosts) await report(id, address);
  await round();
});

const remotesOf = ({ networks }: HostNetworkDocument): string[] =>
  networks.flatMap(({ overlay }) => overlay?.remotes.map(({ host: at }) => at) ?? []).sort();

describe('a document', () => {
  it('names ports of its networks on other hosts, and no others', async () => {
    await place(host(0));
    await place(host(1));
    await place(host(1));
    const elsewhere = await f.create(project, { name: 'elsewhere', subnet: '10.41.0.0/24', nat: false });
    await place(host(2), elsewhere.id);
    const first = await document(host(0));
    expect(first.underlay).toEqual({ address: '192.0.2.1', port: 4789 });
    expect(remotesOf(first)).toEqual(['192.0.2.2', '192.0.2.2']);
    expect(first.networks[0]?.overlay?.remotes[0]).toMatchObject({
      mac: expect.stringMatching(/^56:43:53/) as string,
      addresses: [expect.stringMatching(/^10\.40\.0\./) as string],
    });
    expect(remotesOf(await document(host(2)))).toEqual([]);
    const [one, other] = [first, await document(host(2))].map(({ networks }) => networks[0]?.overlay?.vni);
    expect(one).toBeGreaterThan(0);
    expect(one).not.toBe(other);
  });

  it('has nothing of it for a host that takes no part, nor of that host for others', async () => {
    await report(host(1), null);
    await round();
    for (const n of [0, 1, 2]) await place(host(n));
    const apart = await document(host(1));
    expect([apart.underlay, apart.networks[0]?.overlay]).toEqual([undefined, undefined]);
    expect(remotesOf(await document(host(0)))).toEqual(['192.0.2.3']);
    expect(f.conditions.of(host(1))).toMatchObject([{ type: 'NetworkOverlay', status: 'false', reason: 'NoUnderlay' }]);
    expect(f.conditions.of(host(0))).toMatchObject([{ type: 'NetworkOverlay', status: 'true' }]);
  });
});

describe('a change on one host', () => {
  it('is told to the other hosts of the network, once, however much changes', async () => {
    for (const n of [0, 1]) await place(host(n));
    expect(await round()).toEqual([host(0), host(1)].sort());
    const ports = [await place(host(0)), await place(host(0)), await place(host(0))];
    expect(await round()).toEqual([host(1)]);
    // As a delete does it: the host of the port gets its own document in the same transaction.
    await f.db.database.tx(async (op) => {
      await f.ports.release(op, ports[0] ?? '');
      await f.ports.document(op, host(0));
    });
    expect(await round()).toEqual([host(1)]);
    expect(await round()).toEqual([]);
  });

  it('is told to a host with many ports, of several networks that changed on several hosts', async () => {
    const others = [await f.create(project, { name: 'o', subnet: '10.44.0.0/24', nat: false })];
    const networks = [network, ...others.map(({ id }) => id)];
    for (const one of networks) for (let n = 0; n < 20; n += 1) await place(host(1), one);
    await round();
    for (const one of networks) for (const n of [0, 2]) await place(host(n), one);
    expect(await round()).toEqual([host(0), host(1), host(2)].sort());
  });

  it('that is given up in its transaction is told to nobody', async () => {
    for (const n of [0, 1]) await place(host(n));
    await round();
    const instance = randomUUID();
    await f.allocate(project, [{ networkId: network }], instance, host(0));
    await f.db.database
      .tx(async (op) => {
        await f.ports.document(op, host(0), { attach: instance });
        throw new Error('given up');
      })
      .catch(() => undefined);
    expect(await round()).toEqual([]);
  });

  it('is not told to a host that was given its document since', async () => {
    for (const n of [0, 1]) await place(host(n));
    await round();
    await place(host(0));
    await f.overlays.fold(f.db.database.op);
    await document(host(1));
    expect(await round()).toEqual([]);
  });

  it('waits for the task that tells the one before, and for a silent host to be heard', async () => {
    for (const n of [0, 1]) await place(host(n));
    await round();
    f.live.push(...(await f.lastTasks()));
    await place(host(0));
    expect(await round()).toEqual([]);
    f.live.splice(0);
    expect(await round()).toEqual([host(1)]);
    f.hosts.silent.add(host(1));
    await place(host(0));
    expect(await round()).toEqual([]);
    f.hosts.silent.clear();
    expect(await round()).toEqual([host(1)]);
  });

  it('of its underlay address reaches it and all that share its networks', async () => {
    for (const n of [0, 1]) await place(host(n));
    await place(host(2), (await f.create(project, { name: 'other', subnet: '10.42.0.0/24', nat: false })).id);
    await round();
    await report(host(0), '192.0.2.77');
    expect(await round()).toEqual([host(0), host(1)].sort());
    expect(remotesOf(await document(host(1)))).toEqual(['192.0.2.77']);
    await report(host(0), '192.0.2.77');
    expect(await round()).toEqual([]);
  });

  it('to an agent that knows nothing of it ends its part', async () => {
    for (const n of [0, 1]) await place(host(n));
    await round();
    const said = { generation: 1, failed: [] };
    await f.db.database.tx((op) => f.sink.accept(op, host(0), said));
    expect(await round()).toEqual([host(0), host(1)].sort());
    expect(remotesOf(await document(host(1)))).toEqual([]);
    await f.db.database.tx((op) =>
      f.sink.accept(op, host(0), { ...said, underlay: { address: '192.0.2.1', mtu: 1500 } }),
    );
    expect(await round()).toEqual([host(0), host(1)].sort());
    expect(remotesOf(await document(host(1)))).toEqual(['192.0.2.1']);
  });

  it('of a host that is gone leaves nothing', async () => {
    f.hosts.hosts.splice(2, 1);
    await round();
    expect((await f.underlays.known(f.db.database.op)).map(({ hostId }) => hostId)).not.toContain(host(2));
  });
});

describe('identifiers of networks', () => {
  it('are of one network each, and used ones are passed over when they come round again', async () => {
    await f.db.database.query(`SELECT setval('network_vni', 16777215)`);
    for (let n = 0; n < 40; n += 1) await f.create(project, { name: `v${n}`, subnet: '10.43.0.0/24', nat: false });
    const [row] = await f.db.database.query<{ all: number; different: number }>(
      'SELECT count(*)::int AS "all", count(DISTINCT vni)::int AS different FROM network',
    );
    expect(row?.different).toBe(row?.all);
  });
});
