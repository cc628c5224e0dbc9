import { randomUUID } from 'node:crypto';
import { Problem } from '../../../src/core/errors/problem';
import { GroupLab, type AskedRule } from './group-lab';
import { code } from './problem-code';

jest.setTimeout(60_000);

let g: GroupLab;
beforeAll(async () => {
  g = await GroupLab.start();
}, 60_000);
afterAll(() => g.f.db.close());

/** What a refusal says of where it is wrong. */
const refusal = async (work: Promise<unknown>): Promise<[string, string | undefined]> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Problem)) throw new Error('it was not refused', { cause: error });
  const [first] = (error.errors ?? []) as { path: string; code: string }[];
  return [first?.code ?? error.code, first?.path];
};
describe('the default group', () => {
  it('is there with the first network, lets all out and its members in, and is neither renamed nor deleted', async () => {
    const project = randomUUID();
    await g.f.create(project, { name: 'n', subnet: '10.1.0.0/24' });
    const group = await g.show(project, 'default');
    expect(group).toMatchObject({ isDefault: true, status: 'active', hosts: { concerned: 0, converged: 0 } });
    expect(group.rules.map((r) => [r.direction, r.ethertype, r.protocol, r.remoteGroup?.name ?? null]).sort()).toEqual([
      ['egress', 'ipv4', null, null],
      ['egress', 'ipv6', null, null],
      ['ingress', 'ipv4', null, 'default'],
      ['ingress', 'ipv6', null, 'default'],
    ]);
    expect(await code(g.remove(project, 'default'))).toBe('default_security_group');
    const rename = g.f.db.database.tx((op) =>
      g.f.groups.update(op, g.access(project), undefined, 'default', { name: 'other' }),
    );
    expect(await code(rename)).toBe('default_security_group');
    await g.removeRule(project, group.rules[0]?.id ?? '');
    expect((await g.show(project, 'default')).rules).toHaveLength(3);
  });

  it('is made once by many who need it at a time', async () => {
    const project = randomUUID();
    await Promise.all(
      Array.from({ length: 12 }, (_, i) => g.f.create(project, { name: `n${i}`, subnet: '10.1.0.0/24' })),
    );
    const page = await g.f.groups.list(g.f.db.database.op, g.access(project), undefined, {
      limit: 50,
      name: 'default',
    });
    expect(page.items.map(({ ruleCount }) => ruleCount)).toEqual([4]);
  });
});

describe('groups', () => {
  it('live through create, change and delete, each an event', async () => {
    const project = randomUUID();
    g.f.outbox.events.length = 0;
    const made = await g.create(project, 'web');
    expect(made).toMatchObject({ name: 'web', isDefault: false, rules: [], ruleCount: 0, portCount: 0 });
    expect(await code(g.create(project, 'web'))).toBe('name_taken');
    await g.f.db.database.tx((op) => g.f.groups.update(op, g.access(project), undefined, 'web', { name: 'front' }));
    await g.addRule(project, 'front', { direction: 'ingress', protocol: 'tcp', portMin: 80 });
    await g.remove(project, made.id);
    expect(await code(g.show(project, made.id))).toBe('not_found');
    expect(g.f.outbox.events.map(({ type }) => type)).toEqual([
      'security-group.created',
      'security-group.updated',
      'security-group.updated',
      'security-group.deleted',
    ]);
  });

  it('are not deleted while ports are in them or rules of others name them, which the refusal says', async () => {
    const project = randomUUID();
    const network = await g.f.create(project, { name: 'n', subnet: '10.2.0.0/24' });
    const [web, db] = [await g.create(project, 'web'), await g.create(project, 'db')];
    const rule = await g.addRule(project, 'db', { direction: 'ingress', remoteGroup: 'web' });
    await g.addRule(project, 'web', { direction: 'ingress', remoteGroup: 'web' });
    const { instance } = await g.boot(project, network.id, randomUUID(), [web.id]);
    const refused = await g.remove(project, 'web').catch((error: unknown) => error as Problem);
    expect(refused).toMatchObject({ code: 'security_group_in_use' });
    expect((refused as Problem).extra).toMatchObject({
      count: 2,
      users: [
        { kind: 'instance', id: instance },
        { kind: 'security-group', id: db.id, name: 'db', href: `/api/v1/security-groups/${db.id}` },
      ],
    });
    await g.f.release(instance);
    expect(await code(g.remove(project, 'web'))).toBe('security_group_in_use');
    await g.removeRule(project, rule.id);
    await g.remove(project, 'web');
  });

  it('of others are not there: not to be seen, changed, joined, nor named in a rule', async () => {
    const [mine, other] = [randomUUID(), randomUUID()];
    const network = await g.f.create(other, { name: 'n', subnet: '10.3.0.0/24' });
    const group = await g.create(mine, 'web');
    const rule = await g.addRule(mine, 'web', { direction: 'ingress' });
    await g.create(other, 'theirs');
    expect(await code(g.show(other, group.id))).toBe('not_found');
    expect(await code(g.addRule(other, group.id, { direction: 'egress' }))).toBe('not_found');
    expect(await code(g.removeRule(other, rule.id))).toBe('not_found');
    expect(await code(g.remove(other, group.id))).toBe('not_found');
    for (const remoteGroup of ['web', group.id])
      expect(await refusal(g.addRule(other, 'theirs', { direction: 'ingress', remoteGroup }))).toEqual([
        'security_group_not_found',
        'body.remoteGroup',
      ]);
    const check = g.f.ports.check(
      g.f.db.database.op,
      other,
      [{ network: 'n', securityGroups: ['default', group.id] }],
      (index) => `body.networks.${index}`,
    );
    expect(await refusal(check)).toEqual(['security_group_not_found', 'body.networks.0.securityGroups.1']);
    const { port } = await g.boot(other, network.id, randomUUID());
    expect(await refusal(g.movePort(other, port, [group.id]))).toEqual([
      'security_group_not_found',
      'body.securityGroups.0',
    ]);
    expect(await code(g.movePort(mine, port, [group.id]))).toBe('not_found');
  });

  it('are as many as the configuration allows, also when many are made at a time', async () => {
    const project = randomUUID();
    const results = await Promise.allSettled(Array.from({ length: 104 }, (_, i) => g.create(project, `g${i}`)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(99);
    expect(await code(g.create(project, 'one-more'))).toBe('too_many_security_groups');
  });
});

describe('rules', () => {
  it('are what was asked for, with names of protocols and whole networks', async () => {
    const project = randomUUID();
    await g.create(project, 'web');
    const added = await Promise.all([
      g.addRule(project, 'web', {
        direction: 'ingress',
        protocol: 'TCP',
        portMin: 80,
        portMax: 90,
        remoteCidr: '10.0.0.0/8',
      }),
      g.addRule(project, 'web', { direction: 'ingress', protocol: 17, portMin: 53 }),
      g.addRule(project, 'web', { direction: 'egress', protocol: 'icmp', icmpType: 8 }),
      g.addRule(project, 'web', {
        direction: 'ingress',
        ethertype: 'ipv6',
        protocol: 'icmpv6',
        remoteCidr: '2001:db8::/32',
      }),
      g.addRule(project, 'web', { direction: 'ingress', protocol: 200 }),
      g.addRule(project, 'web', { direction: 'ingress', remoteGroup: 'default' }),
    ]);
    expect(added).toMatchObject([
      { protocol: 'tcp', portMin: 80, portMax: 90, remoteCidr: '10.0.0.0/8', remoteGroup: null },
      { protocol: 'udp', portMin: 53, portMax: 53 },
      { protocol: 'icmp', icmpType: 8, icmpCode: null },
      { protocol: 'icmpv6', ethertype: 'ipv6', remoteCidr: '2001:db8::/32' },
      { protocol: '200' },
      { protocol: null, remoteGroup: { name: 'default' } },
    ]);
    expect((await g.f.groups.listRules(g.f.db.database.op, g.access(project), undefined, 'web')).items).toHaveLength(6);
  });

  it.each<[AskedRule, string, string]>([
    [{ direction: 'ingress', protocol: 'tpc' }, 'unknown_protocol', 'body.protocol'],
    [{ direction: 'ingress', protocol: '256' }, 'unknown_protocol', 'body.protocol'],
    [{ direction: 'ingress', protocol: 'icmpv6' }, 'wrong_family', 'body.protocol'],
    [{ direction: 'ingress', portMin: 80 }, 'protocol_has_no_ports', 'body.portMin'],
    [{ direction: 'ingress', protocol: 'gre', portMax: 80 }, 'protocol_has_no_ports', 'body.portMax'],
    [{ direction: 'ingress', protocol: 'tcp', portMin: 90, portMax: 80 }, 'port_range_reversed', 'body.portMax'],
    [{ direction: 'ingress', protocol: 'icmp', icmpCode: 0 }, 'icmp_code_without_type', 'body.icmpCode'],
    [{ direction: 'ingress', protocol: 'tcp', icmpType: 8 }, 'protocol_has_no_types', 'body.icmpType'],
    [{ direction: 'ingress', remoteCidr: '2001:db8::/32' }, 'wrong_family', 'body.remoteCidr'],
    [{ direction: 'ingress', remoteCidr: '10.0.0.1/8' }, 'host_bits_set', 'body.remoteCidr'],
    [{ direction: 'ingress', remoteCidr: '10.0.0.0/8', remoteGroup: 'default' }, 'two_remotes', 'body.remoteGroup'],
    [{ direction: 'ingress', remoteGroup: 'nobody' }, 'security_group_not_found', 'body.remoteGroup'],
  ])('that mean nothing are refused at their field: %j', async (asked, reason, path) => {
    const project = randomUUID();
    await g.create(project, 'web');
    expect(await refusal(g.addRule(project, 'web', asked))).toEqual([reason, path]);
    expect((await g.show(project, 'web')).rules).toEqual([]);
  });

  it('that say the same are one, and a group has no more than the configuration allows', async () => {
    const project = randomUUID();
    await g.create(project, 'web');
    const same = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        g.addRule(project, 'web', { direction: 'ingress', protocol: 'tcp', portMin: 22 }),
      ),
    );
    expect(same.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await code(g.addRule(project, 'web', { direction: 'ingress', protocol: 6, portMin: 22, portMax: 22 }))).toBe(
      'rule_exists',
    );
    const many = await Promise.allSettled(
      Array.from({ length: 104 }, (_, i) =>
        g.addRule(project, 'web', { direction: 'ingress', protocol: 'tcp', portMin: 1000 + i }),
      ),
    );
    expect(many.filter(({ status }) => status === 'fulfilled')).toHaveLength(99);
    expect((await g.show(project, 'web')).ruleCount).toBe(100);
  });

  it('are removed once', async () => {
    const project = randomUUID();
    await g.create(project, 'web');
    const { id } = await g.addRule(project, 'web', { direction: 'ingress' });
    const results = await Promise.all(Array.from({ length: 4 }, () => code(g.removeRule(project, id))));
    expect(results.filter((one) => one === 'not_found')).toHaveLength(3);
  });
});

describe('ports', () => {
  it('are in the groups that were asked for, or in the default one, and lists tell and find them', async () => {
    const project = randomUUID();
    const network = await g.f.create(project, { name: 'n', subnet: '10.4.0.0/24' });
    const [web, db] = [await g.create(project, 'web'), await g.create(project, 'db')];
    const checked = await g.f.ports.check(
      g.f.db.database.op,
      project,
      [{ network: 'n', securityGroups: ['web', db.id, 'web'] }, { network: 'n' }, { network: 'n', securityGroups: [] }],
      String,
    );
    expect(checked.map(({ securityGroups }) => securityGroups)).toEqual([[web.id, db.id], undefined, []]);
    const instance = randomUUID();
    await g.f.allocate(project, checked, instance);
    const names = (await g.portsOf(project, { instance }))
      .sort((a, b) => a.position - b.position)
      .map(({ securityGroups }) => securityGroups.map(({ name }) => name));
    expect(names).toEqual([['db', 'web'], ['default'], []]);
    expect((await g.portsOf(project, { securityGroup: db.id })).map(({ position }) => position)).toEqual([0]);
    expect((await g.show(project, 'web')).portCount).toBe(1);
    expect(network.id).toBe(checked[0]?.networkId);
    const six = await Promise.all(Array.from({ length: 6 }, (_, i) => g.create(project, `g${i}`)));
    expect(
      await refusal(
        g.f.ports.check(
          g.f.db.database.op,
          project,
          [{ network: 'n', securityGroups: six.map(({ id }) => id) }],
          (i) => `body.networks.${i}`,
        ),
      ),
    ).toEqual(['too_many_security_groups', 'body.networks.0.securityGroups']);
  });

  it('are not made in a group that was deleted meanwhile', async () => {
    const project = randomUUID();
    const network = await g.f.create(project, { name: 'n', subnet: '10.5.0.0/24' });
    const web = await g.create(project, 'web');
    await g.remove(project, 'web');
    expect(await code(g.f.allocate(project, [{ networkId: network.id, securityGroups: [web.id] }]))).toBe(
      'security_group_gone',
    );
    expect(await g.portsOf(project)).toEqual([]);
  });

  it('that move between groups at the same time end in what one of them asked for, and are told as that', async () => {
    const project = randomUUID();
    const network = await g.f.create(project, { name: 'n', subnet: '10.6.0.0/24' });
    const host = randomUUID();
    const groups = [await g.create(project, 'a'), await g.create(project, 'b'), await g.create(project, 'c')];
    const { port } = await g.boot(project, network.id, host);
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(groups.map(({ id }) => g.movePort(project, port, [id])));
      const [shown] = await g.portsOf(project);
      const document = await g.documentOf(host);
      expect(shown?.securityGroups).toHaveLength(1);
      expect(document.networks[0]?.ports[0]?.securityGroups).toEqual(shown?.securityGroups.map(({ id }) => id));
    }
  });
});
