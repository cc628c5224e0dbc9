import { randomUUID } from 'node:crypto';
import { GroupLab } from './group-lab';

jest.setTimeout(60_000);

let g: GroupLab;
beforeAll(async () => {
  g = await GroupLab.start();
}, 60_000);
afterAll(() => g.f.db.close());

describe('hosts', () => {
  const tasksFor = (hosts: readonly string[]): string[] =>
    g.f.workflows.started
      .filter(({ type }) => type === 'host.sync-network')
      .map(({ input }) => (input as { hostId: string }).hostId)
      .filter((id) => hosts.includes(id))
      .sort();

  it('are told groups of their ports with rules, and members on all hosts of those that rules name, by network', async () => {
    const project = randomUUID();
    const [near, far] = [
      await g.f.create(project, { name: 'near', subnet: '10.7.0.0/24' }),
      await g.f.create(project, { name: 'far', subnet: '10.7.0.0/24' }),
    ];
    const [here, there] = [randomUUID(), randomUUID()];
    const [web, db, idle] = [
      await g.create(project, 'web'),
      await g.create(project, 'db'),
      await g.create(project, 'idle'),
    ];
    await g.addRule(project, 'web', { direction: 'ingress', protocol: 'tcp', portMin: 80, remoteGroup: 'db' });
    await g.addRule(project, 'idle', { direction: 'ingress' });
    const one = await g.boot(project, near.id, there, [db.id]);
    await g.boot(project, far.id, there, [db.id]);
    const allocated = randomUUID();
    await g.f.allocate(project, [{ networkId: near.id, securityGroups: [db.id] }], allocated, there);
    const own = await g.boot(project, near.id, here, [web.id]);
    const document = await g.documentOf(here);
    expect(document.networks[0]?.ports[0]).toMatchObject({ id: own.port, securityGroups: [web.id] });
    expect(document.securityGroups?.map(({ id }) => id).sort()).toEqual([web.id, db.id].sort());
    expect(document.securityGroups?.find(({ id }) => id === web.id)?.rules).toEqual([
      {
        direction: 'ingress',
        ethertype: 'ipv4',
        protocol: 6,
        ports: { min: 80, max: 80 },
        icmp: null,
        cidr: null,
        group: db.id,
      },
    ]);
    expect(document.securityGroups?.find(({ id }) => id === db.id)).toEqual({
      id: db.id,
      rules: [],
      members: [{ networkId: near.id, addresses: [one.address] }],
    });
    expect(JSON.stringify(document)).not.toContain(idle.id);
  });

  it('with a port in the group are each given their document once, however many rules change until it is made', async () => {
    const project = randomUUID();
    const network = await g.f.create(project, { name: 'n', subnet: '10.8.0.0/24' });
    const [one, two, other] = [randomUUID(), randomUUID(), randomUUID()];
    g.f.hosts.hosts.push(...[one, two, other].map((id, i) => ({ id, address: `192.0.2.${50 + i}` })));
    const web = await g.create(project, 'web');
    for (const host of [one, two]) await g.boot(project, network.id, host, [web.id]);
    await g.boot(project, network.id, other);
    for (const host of [one, two]) await g.report(host, (await g.documentOf(host)).generation);
    expect((await g.show(project, 'web')).status).toBe('active');
    g.f.workflows.started.length = 0;
    for (const portMin of [80, 81, 82])
      await g.addRule(project, 'web', { direction: 'ingress', protocol: 'tcp', portMin });
    await g.f.overlaySync.round();
    await g.f.overlaySync.round();
    expect(tasksFor([one, two])).toEqual([one, two].sort());
    expect(await g.show(project, 'web')).toMatchObject({ status: 'pending', hosts: { concerned: 2, converged: 0 } });
    const generation = (await g.documentOf(one)).generation;
    await g.report(one, generation - 1);
    expect(await g.show(project, 'web')).toMatchObject({ status: 'pending', hosts: { concerned: 2, converged: 0 } });
    await g.report(one, generation);
    expect(await g.show(project, 'web')).toMatchObject({ status: 'pending', hosts: { concerned: 2, converged: 1 } });
    await g.report(two, (await g.documentOf(two)).generation);
    expect(await g.show(project, 'web')).toMatchObject({ status: 'active', hosts: { concerned: 2, converged: 2 } });
    g.f.workflows.started.length = 0;
    await g.addRule(project, 'web', { direction: 'egress' });
    await g.f.overlaySync.round();
    expect(tasksFor([one, two])).toEqual([one, two].sort());
  });

  it('hear of members that come, move and go elsewhere, at once', async () => {
    const project = randomUUID();
    const network = await g.f.create(project, { name: 'n', subnet: '10.9.0.0/24' });
    const [here, there] = [randomUUID(), randomUUID()];
    g.f.hosts.hosts.push(...[here, there].map((id, i) => ({ id, address: `192.0.2.${60 + i}` })));
    const [web, db] = [await g.create(project, 'web'), await g.create(project, 'db')];
    await g.addRule(project, 'web', { direction: 'ingress', remoteGroup: 'db' });
    await g.boot(project, network.id, here, [web.id]);
    const heard = async (): Promise<string[]> => {
      const document = await g.documentOf(here);
      await g.report(here, document.generation);
      return (
        document.securityGroups?.find(({ id }) => id === db.id)?.members.flatMap(({ addresses }) => addresses) ?? []
      );
    };
    const asked = async (work: () => Promise<unknown>): Promise<string[]> => {
      g.f.workflows.started.length = 0;
      await work();
      await g.f.overlaySync.round();
      return tasksFor([here]);
    };
    expect(await heard()).toEqual([]);
    let member = { instance: '', port: '', address: '' };
    expect(await asked(async () => (member = await g.boot(project, network.id, there, [db.id])))).toEqual([here]);
    expect((await g.show(project, 'db')).status).toBe('pending');
    expect(await heard()).toEqual([member.address]);
    expect(await asked(() => g.movePort(project, member.port, []))).toEqual([here]);
    expect(await heard()).toEqual([]);
    expect(await asked(() => g.movePort(project, member.port, [db.id]))).toEqual([here]);
    expect(await heard()).toEqual([member.address]);
    expect(await asked(() => g.f.release(member.instance))).toEqual([here]);
    expect(await heard()).toEqual([]);
  });

  it('that make documents for each other at the same time do not wait in a circle', async () => {
    const project = randomUUID();
    const network = await g.f.create(project, { name: 'n', subnet: '10.12.0.0/22' });
    const hosts = Array.from({ length: 6 }, () => randomUUID());
    const group = await g.show(project, 'default');
    for (const host of hosts) await g.boot(project, network.id, host);
    const instances = hosts.flatMap((host) =>
      Array.from({ length: 6 }, (_, i) => ({ host, i, instance: randomUUID() })),
    );
    const ports = new Map<string, string>();
    for (const { instance, host } of instances) {
      const [made] = await g.f.allocate(project, [{ networkId: network.id }], instance, host);
      ports.set(instance, made?.id ?? '');
    }
    const work = instances.map(async ({ host, i, instance }) => {
      await g.documentOf(host, { attach: instance });
      const port = ports.get(instance) ?? '';
      if (i % 2 === 0) await g.movePort(project, port, []);
      if (i % 3 === 0)
        await g.f.db.database.tx(async (op) => {
          await g.f.ports.release(op, instance);
          await g.f.ports.document(op, host);
        });
    });
    const rules = Array.from({ length: 6 }, (_, i) =>
      g.addRule(project, group.id, { direction: 'ingress', protocol: 'tcp', portMin: 100 + i, remoteGroup: 'default' }),
    );
    await Promise.all([...work, ...rules]);
    const members = (await g.portsOf(project, { securityGroup: group.id })).map(({ address }) => address).sort();
    for (const host of hosts) {
      const document = await g.documentOf(host);
      const told = document.securityGroups?.find(({ id }) => id === group.id);
      expect(told?.rules).toHaveLength(10);
      expect(told?.members.flatMap(({ addresses }) => addresses).sort()).toEqual(members);
    }
  });
});
