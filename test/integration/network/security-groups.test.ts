import { spawn, type ChildProcess } from 'node:child_process';
import type {
  RuleDocument,
  SecurityGroupDocument,
} from '../../../src/modules/network/contract/security-group.document';
import {
  ofFirstRevision,
  plainEgress,
  type HostNetworkDocument,
} from '../../../src/modules/network/contract/host-document';
import { instanceNetns } from '../../../src/modules/network/node/drivers/linux/names';
import { HostLab, type Client } from './host-lab';

jest.setTimeout(120_000);

const [webId, dbId, otherId] = ['1', '2', '3'].map((n) => `44444444-4444-4444-8444-44444444440${n}`) as [
  string,
  string,
  string,
];
const [A, B, C] = ['10.77.0.11', '10.77.0.12', '10.77.0.130'];

let lab: HostLab;
let generation = 0;
let clients: { a: Client; b: Client; c: Client };

const rule = (given: Partial<RuleDocument>): RuleDocument => ({
  direction: 'ingress',
  ethertype: 'ipv4',
  protocol: null,
  ports: null,
  icmp: null,
  cidr: null,
  group: null,
  ...given,
});
const [tcp, udp, icmp] = [6, 17, 1];
const everythingOut = [rule({ direction: 'egress' })];
/** Instance a is in `web`, with these rules; b in `db`, c in neither of both, and both may send anything. */
const document = (rules: RuleDocument[], members: string[] = [B], groups: string[] = [webId]): HostNetworkDocument => {
  const plain = ofFirstRevision({
    generation: (generation += 1),
    networks: [lab.network(1, [lab.port(1, A), lab.port(2, B), lab.port(3, C)])],
    egress: plainEgress,
  });
  const ofPorts = [groups, [dbId], [otherId]];
  const networkId = lab.network(1, []).id;
  const group = (id: string, own: RuleDocument[], addresses: string[] = []): SecurityGroupDocument => ({
    id,
    rules: own,
    members: addresses.length > 0 ? [{ networkId, addresses }] : [],
  });
  return {
    ...plain,
    networks: plain.networks.map((network) => ({
      ...network,
      ports: network.ports.map((port, i) => ({ ...port, securityGroups: ofPorts[i] ?? [] })),
    })),
    securityGroups: [group(webId, rules), group(dbId, everythingOut, members), group(otherId, everythingOut)],
  };
};
const apply = async (...of: Parameters<typeof document>): Promise<void> => {
  const result = await lab.apply(document(...of));
  expect(result.ports.map(({ message }) => message)).toEqual(['', '', '']);
};
const rulesOf = (client: Client): Promise<string> =>
  lab.in(instanceNetns(lab.hash, client.port.instanceId), 'nft', '-a', 'list', 'table', 'inet', 'vcs');

/** A connection that stays open, with an echo at its other end, or with what is said there. */
class Conversation {
  heard = '';
  said = '';

  private constructor(
    private readonly there: ChildProcess,
    private readonly here: ChildProcess,
  ) {
    here.stdout?.on('data', (chunk) => (this.heard += String(chunk)));
    there.stdout?.on('data', (chunk) => (this.said += String(chunk)));
  }

  static async open(
    from: Client,
    to: Client,
    address: string,
    number: number,
    protocol: 'TCP' | 'UDP' = 'TCP',
    end = 'EXEC:cat',
  ): Promise<Conversation> {
    const at = (client: Client, ...args: string[]): ChildProcess =>
      spawn('nsenter', [`--net=/run/netns/${client.netns}`, '--', 'socat', ...args], {
        stdio: ['pipe', 'pipe', 'ignore'],
      });
    const there = at(to, `${protocol}-LISTEN:${number},reuseaddr,bind=${address}`, end);
    const flag = protocol === 'TCP' ? '-ltn' : '-lun';
    await lab.until(`port ${number}`, async () => (await lab.in(to.netns, 'ss', flag)).includes(`:${number}`));
    return new Conversation(there, at(from, `${protocol}:${address}:${number}`, '-'));
  }

  say(word: string): void {
    this.here.stdin?.write(`${word}\n`);
  }

  /** Whether the word comes back. */
  answers(word: string, withinMs?: number): Promise<boolean> {
    this.say(word);
    return this.hears(word, withinMs);
  }

  /** Whether what the other end says of itself is heard. */
  answer(word: string, withinMs?: number): Promise<boolean> {
    this.there.stdin?.write(`${word}\n`);
    return this.hears(word, withinMs);
  }

  close(): void {
    for (const end of [this.here, this.there]) end.kill('SIGKILL');
  }

  private hears(word: string, withinMs = 2000): Promise<boolean> {
    return lab
      .until(word, () => Promise.resolve(this.heard.includes(word)), withinMs)
      .then(
        () => true,
        () => false,
      );
  }
}

/** Whether a datagram is answered. */
const datagram = async (from: Client, to: Client, address: string, number: number): Promise<boolean> => {
  const talk = await Conversation.open(from, to, address, number, 'UDP');
  const answered = await talk.answers('hello', 700);
  talk.close();
  return answered;
};
const connects = async (from: Client, to: Client, address: string, number: number): Promise<boolean> => {
  const stop = await lab.serve(to.netns, address, number);
  const answer = await lab.connect(from.netns, address, number);
  await stop();
  return answer.startsWith('served');
};

beforeAll(async () => {
  lab = await HostLab.start('groups');
  await lab.startAgent();
  await apply(everythingOut);
  const [a, b, c] = [
    await lab.client(lab.port(1, A)),
    await lab.client(lab.port(2, B)),
    await lab.client(lab.port(3, C)),
  ];
  clients = { a, b, c };
  for (const client of [a, b, c]) expect(await lab.lease(client)).toContain(`ip=${client.port.address} `);
});
afterAll(() => lab.close());

describe('a port in groups', () => {
  it('is reached by nobody but its host while no rule allows it, and reaches others', async () => {
    const { a, b } = clients;
    await apply(everythingOut);
    expect(await lab.ping(b.netns, A)).toBe(false);
    expect(await connects(b, a, A, 80)).toBe(false);
    expect(await datagram(b, a, A, 53)).toBe(false);
    expect(await lab.ping(lab.netnsOf(lab.network(1, [])), A)).toBe(true);
    expect(await lab.ping(a.netns, '10.77.0.1')).toBe(true);
    expect(await lab.ping(a.netns, '203.0.113.9')).toBe(true);
  });

  it('without any group keeps DHCP and metadata, and nothing else', async () => {
    const { a } = clients;
    await apply(everythingOut, [B], []);
    expect(await lab.lease(a)).toContain(`ip=${A} `);
    expect((await lab.http(a.netns, '/')).status).not.toBe(0);
    expect(await lab.ping(a.netns, '203.0.113.9')).toBe(false);
    expect(await lab.ping(a.netns, '10.77.0.1')).toBe(false);
  });

  it('hears by TCP, UDP and ICMP what its rules allow, and of that only', async () => {
    const { a, b } = clients;
    await apply([
      ...everythingOut,
      rule({ protocol: tcp, ports: { min: 80, max: 90 } }),
      rule({ protocol: udp, ports: { min: 53, max: 53 } }),
      rule({ protocol: icmp, icmp: { type: 8, code: 0 } }),
    ]);
    for (const [number, passes] of [
      [79, false],
      [80, true],
      [85, true],
      [90, true],
      [91, false],
    ] as const)
      expect([number, await connects(b, a, A, number)]).toEqual([number, passes]);
    expect(await datagram(b, a, A, 53)).toBe(true);
    expect(await datagram(b, a, A, 54)).toBe(false);
    expect(await datagram(b, a, A, 80)).toBe(false);
    expect(await lab.ping(b.netns, A)).toBe(true);
    await apply([...everythingOut, rule({ protocol: icmp, icmp: { type: 13, code: null } })]);
    expect(await lab.ping(b.netns, A)).toBe(false);
    await apply([...everythingOut, rule({ protocol: icmp, icmp: { type: 8, code: null } })]);
    expect(await lab.ping(b.netns, A)).toBe(true);
  });

  it('hears the network that a rule names', async () => {
    const { a, b, c } = clients;
    for (const [cidr, ofB, ofC] of [
      ['10.77.0.0/25', true, false],
      ['10.77.0.128/25', false, true],
      ['10.77.0.130/32', false, true],
      ['10.0.0.0/8', true, true],
      ['11.0.0.0/8', false, false],
      ['0.0.0.0/0', true, true],
    ] as const) {
      await apply([...everythingOut, rule({ protocol: tcp, cidr })]);
      expect([cidr, await connects(b, a, A, 80), await connects(c, a, A, 80)]).toEqual([cidr, ofB, ofC]);
    }
  });

  it('sends only what its rules allow', async () => {
    const { a, b, c } = clients;
    await apply([rule({ direction: 'egress', protocol: tcp, group: dbId })]);
    const open = [rule({ protocol: tcp }), ...everythingOut];
    const all = document([rule({ direction: 'egress', protocol: tcp, group: dbId })]);
    const groups = (all.securityGroups ?? []).map((group) => (group.id === webId ? group : { ...group, rules: open }));
    await lab.apply({ ...all, securityGroups: groups });
    expect(await connects(a, b, B, 80)).toBe(true);
    expect(await connects(a, c, C, 80)).toBe(false);
    expect(await lab.ping(a.netns, '203.0.113.9')).toBe(false);
    expect(await lab.lease(a)).toContain(`ip=${A} `);
  });
});

describe('members of a group', () => {
  it('come and go by the set alone: rules stay as they are in the kernel', async () => {
    const { a, b, c } = clients;
    const rules = [...everythingOut, rule({ protocol: tcp, group: dbId })];
    await apply(rules, [B]);
    expect([await connects(b, a, A, 80), await connects(c, a, A, 80)]).toEqual([true, false]);
    const handles = (text: string): string[] =>
      [...text.matchAll(/chain \w+ \{ # handle \d+|goto .*# handle \d+/g)].map(String);
    const before = handles(await rulesOf(a));
    await apply(rules, [B, C]);
    expect([await connects(b, a, A, 80), await connects(c, a, A, 80)]).toEqual([true, true]);
    await apply(rules, [C]);
    expect([await connects(b, a, A, 80), await connects(c, a, A, 80)]).toEqual([false, true]);
    await apply(rules, []);
    expect([await connects(b, a, A, 80), await connects(c, a, A, 80)]).toEqual([false, false]);
    expect(before.length).toBeGreaterThan(5);
    expect(handles(await rulesOf(a))).toEqual(before);
  });

  it('of which one goes: its connection is cut, and the others are not', async () => {
    const { a, b, c } = clients;
    const rules = [...everythingOut, rule({ protocol: tcp, group: dbId })];
    await apply(rules, [B, C]);
    const [stays, goes] = [await Conversation.open(b, a, A, 7001), await Conversation.open(c, a, A, 7002)];
    expect([await stays.answers('one'), await goes.answers('one')]).toEqual([true, true]);
    await apply(rules, [B]);
    expect([await stays.answers('two'), await goes.answers('two', 700)]).toEqual([true, false]);
    await apply(rules, [B, C]);
    // What was not let through comes again, as TCP does: the connection was never broken.
    expect(await goes.answers('three', 10_000)).toBe(true);
    for (const talk of [stays, goes]) talk.close();
  });

  it('are put right where somebody else changed a set', async () => {
    const { a, b } = clients;
    await apply([...everythingOut, rule({ protocol: tcp, group: dbId })], [B]);
    const netns = instanceNetns(lab.hash, a.port.instanceId);
    const name = /set (m4_\w+)/.exec(await rulesOf(a))?.[1] ?? '';
    await lab.in(netns, 'nft', 'flush', 'set', 'inet', 'vcs', name);
    await lab.call({ method: 'verify' });
    expect(await connects(b, a, A, 80)).toBe(true);
    await lab.in(netns, 'nft', 'flush', 'chain', 'inet', 'vcs', 'judged');
    await apply([...everythingOut, rule({ protocol: tcp, group: dbId })], [B, C]);
    expect(await connects(b, a, A, 80)).toBe(true);
  });
});

describe('a rule that goes', () => {
  it('cuts what it allowed, in both directions, and leaves what another one allows', async () => {
    const { a, b } = clients;
    const web = rule({ protocol: tcp, ports: { min: 7001, max: 7001 } });
    const admin = rule({ protocol: tcp, ports: { min: 7002, max: 7002 } });
    const names = rule({ protocol: udp, ports: { min: 7003, max: 7003 } });
    await apply([...everythingOut, web, admin, names]);
    const [stays, goes, told] = [
      await Conversation.open(b, a, A, 7001),
      await Conversation.open(b, a, A, 7002),
      await Conversation.open(b, a, A, 7003, 'UDP'),
    ];
    for (const talk of [stays, goes, told]) expect(await talk.answers('one')).toBe(true);
    await apply([...everythingOut, web]);
    expect(await Promise.all([stays.answers('two'), goes.answers('two', 1000), told.answers('two', 1000)])).toEqual([
      true,
      false,
      false,
    ]);
    for (const talk of [stays, goes, told]) talk.close();
  });

  it('leaves no way for answers either, which pass where nothing else may be sent', async () => {
    const { a, b } = clients;
    await apply([rule({ protocol: udp, ports: { min: 7004, max: 7004 } })]);
    const talk = await Conversation.open(b, a, A, 7004, 'UDP', '-');
    talk.say('open');
    await lab.until('the datagram', () => Promise.resolve(talk.said.includes('open')));
    expect(await talk.answer('one')).toBe(true);
    await apply([rule({ protocol: udp, ports: { min: 7005, max: 7005 } })]);
    expect(await talk.answer('two', 700)).toBe(false);
    await apply([rule({ protocol: udp, ports: { min: 7004, max: 7004 } })]);
    expect(await talk.answer('three')).toBe(true);
    talk.close();
  });
});

describe('rules that nft refuses', () => {
  it('leave the old ones in place, and the port says why', async () => {
    const { a, b } = clients;
    const web = rule({ protocol: tcp, ports: { min: 80, max: 80 } });
    await apply([...everythingOut, web]);
    const result = await lab.apply(document([...everythingOut, rule({ protocol: tcp, cidr: '10.0.0.0/99' })]));
    const [failed, ...others] = result.ports;
    expect(failed).toMatchObject({ id: a.port.id, state: 'error' });
    expect(failed?.message).toContain('10.0.0.0/99');
    expect(others.map(({ state }) => state)).toEqual(['active', 'active']);
    expect(await connects(b, a, A, 80)).toBe(true);
    expect(await connects(b, a, A, 81)).toBe(false);
    await apply([...everythingOut, web]);
  });
});

describe('a restart of the agent', () => {
  it('breaks no connection, and the filter is what it was', async () => {
    const { a, b } = clients;
    await apply([...everythingOut, rule({ protocol: tcp, group: dbId })], [B]);
    const talk = await Conversation.open(b, a, A, 7001);
    expect(await talk.answers('one')).toBe(true);
    const before = await rulesOf(a);
    await lab.stopAgent(true);
    expect(await talk.answers('two')).toBe(true);
    await lab.startAgent();
    await lab.call({ method: 'verify' });
    expect(await talk.answers('three')).toBe(true);
    expect(await rulesOf(a)).toBe(before);
    talk.close();
  });
});
