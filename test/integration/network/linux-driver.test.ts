import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { plainEgress } from '../../../src/modules/network/contract/host-document';
import type { PlainDocument } from '../../support/plain-networks';
import {
  hostLinkName,
  hostTable,
  instanceNetns,
  portName,
  routerNetns,
  tapName,
} from '../../../src/modules/network/node/drivers/linux/names';
import { HostLab, type Client } from './host-lab';

jest.setTimeout(120_000);
const run = promisify(execFile);

let lab: HostLab;
let generation = 0;
let a: Client;
let b: Client;
let other: Client;

const document = (networks: PlainDocument['networks'], egress = plainEgress): PlainDocument => ({
  generation: (generation += 1),
  networks,
  egress,
});
const everything = (): PlainDocument['networks'] => [
  lab.network(1, [lab.port(1, '10.77.0.11'), lab.port(2, '10.77.0.12')]),
  lab.network(2, [lab.port(3, '10.77.0.11')]),
];

beforeAll(async () => {
  lab = await HostLab.start();
  for (const n of [1, 2, 3, 6]) {
    const { instanceId, hostname } = lab.port(n, '10.77.0.10');
    lab.metadata[instanceId] = {
      instanceId,
      name: `the ${hostname}`,
      hostname,
      sshKeys: [`ssh-ed25519 AAAA${n} me`],
      userData: '',
      vendorData: '',
      flavor: 'tiny',
      project: 'p',
      metadata: { role: 'web "1"' },
    };
  }
  await lab.startAgent();
});
afterAll(() => lab.close());

describe('a host', () => {
  it('gets a network with its first port, and answers with port states', async () => {
    const result = await lab.apply(document([lab.network(1, [lab.port(1, '10.77.0.11')])]));
    expect(result).toEqual({
      generation: 1,
      superseded: false,
      ports: [{ id: lab.port(1, '').id, state: 'active', message: '' }],
    });
    const port = lab.port(1, '10.77.0.11');
    expect(await lab.call({ method: 'of', instanceId: port.instanceId, portIds: [port.id] })).toEqual({
      netns: instanceNetns(lab.hash, port.instanceId),
      nics: [{ portId: port.id, tap: tapName(port.id), mac: port.mac, mtu: 1450 }],
    });
    await expect(
      lab.call({ method: 'of', instanceId: port.instanceId, portIds: [lab.port(9, '').id] }),
    ).rejects.toThrow('no port');
  });

  it('answers an older document without changing anything', async () => {
    const newer = await lab.apply(document(everything()));
    expect(newer.ports.map((p) => p.state)).toEqual(['active', 'active', 'active']);
    const older = await lab.apply({ generation: 1, networks: [], egress: plainEgress });
    expect(older).toEqual({ generation: newer.generation, superseded: true, ports: newer.ports });
    expect(await lab.leftovers()).toContain(`namespace ${instanceNetns(lab.hash, lab.port(3, '').instanceId)}`);
  });

  it('runs the newest of many documents and answers all', async () => {
    const documents = Array.from({ length: 10 }, () => document(everything()));
    const results = await Promise.all([...documents].reverse().map((d) => lab.apply(d)));
    expect(new Set(results.map((r) => r.generation))).toEqual(new Set([generation]));
    expect(results.map((r) => r.superseded)).toEqual([false, ...Array.from({ length: 9 }, () => true)]);
  });
});

describe('a guest', () => {
  beforeAll(async () => {
    a = await lab.client(lab.port(1, '10.77.0.11'));
    b = await lab.client(lab.port(2, '10.77.0.12'));
    other = await lab.client(lab.port(3, '10.77.0.11'));
  });

  it('gets its address, routes, MTU and names by DHCP', async () => {
    const lease = await lab.lease(a);
    expect(lease).toContain('ip=10.77.0.11 ');
    expect(lease).toContain('mtu=1450');
    expect(lease).toContain('hostname=vm1');
    expect(lease).toContain('domain=lab.internal');
    expect(lease).toContain('dns=203.0.113.53');
    expect(lease).toContain('routes=169.254.169.254/32 10.77.0.1 0.0.0.0/0 10.77.0.1');
    expect(await lab.lease(b)).toContain('ip=10.77.0.12 ');
    expect(await lab.lease(other)).toContain('ip=10.77.0.11 ');
  });

  it('reaches its gateway, its neighbour and the outside, with full frames', async () => {
    expect(await lab.ping(a.netns, '10.77.0.1')).toBe(true);
    expect(await lab.ping(a.netns, '10.77.0.12')).toBe(true);
    expect(await lab.ping(a.netns, '203.0.113.9', '-M', 'do', '-s', '1422')).toBe(true);
    const stop = await lab.serve(lab.outside, '203.0.113.9', 8080);
    expect(await lab.connect(a.netns, '203.0.113.9', 8080)).toBe('served 198.51.100.2\n');
    expect(await lab.connect(other.netns, '203.0.113.9', 8080)).toBe('served 198.51.100.2\n');
    await stop();
    const neighbour = await lab.in(a.netns, 'ip', 'neigh', 'show', '10.77.0.1');
    expect(neighbour).toContain('56:43:47:00:00:01');
  });

  it('does not reach the host, its links or another network with the same addresses', async () => {
    const stop = await lab.serve(lab.host, '0.0.0.0', 8443);
    const links = await lab.in(
      lab.host,
      'ip',
      '-j',
      'addr',
      'show',
      'dev',
      hostLinkName(lab.hash, lab.network(1, []).id),
    );
    const link = (JSON.parse(links) as { addr_info: { local: string }[] }[])[0]?.addr_info[0]?.local ?? '';
    expect(link).toMatch(/^100\.64\./);
    for (const address of ['198.51.100.2', link]) expect(await lab.connect(a.netns, address, 8443)).toBe('');
    expect(await lab.ping(a.netns, '198.51.100.2')).toBe(false);
    await stop();
    const served = await lab.serve(b.netns, '10.77.0.12', 80);
    expect(await lab.connect(a.netns, '10.77.0.12', 80)).toBe('served 10.77.0.11\n');
    expect(await lab.connect(other.netns, '10.77.0.12', 80)).toBe('');
    expect(await lab.ping(other.netns, '10.77.0.12')).toBe(false);
    await served();
    await run('ip', ['-n', lab.outside, 'route', 'add', '10.77.0.0/24', 'via', '198.51.100.2']);
    expect(await lab.ping(lab.outside, '10.77.0.11')).toBe(false);
    await run('ip', ['-n', lab.outside, 'route', 'del', '10.77.0.0/24']);
  });

  it('cannot pretend to be somebody else', async () => {
    const { netns, port } = a;
    await lab.in(netns, 'ip', 'addr', 'add', '10.77.0.66/24', 'dev', 'eth0');
    expect(await lab.ping(netns, '10.77.0.1', '-I', '10.77.0.66')).toBe(false);
    expect(await lab.ping(netns, '10.77.0.12', '-I', '10.77.0.66')).toBe(false);
    await lab.in(netns, 'ip', 'addr', 'del', '10.77.0.66/24', 'dev', 'eth0');
    await lab.in(netns, 'ip', 'link', 'set', 'eth0', 'address', '56:43:53:00:00:77');
    expect(await lab.ping(netns, '10.77.0.1')).toBe(false);
    await lab.in(netns, 'ip', 'link', 'set', 'eth0', 'address', port.mac);
    // ARP: an announcement of the gateway's address with one's own MAC must not reach the neighbour.
    await lab.ping(b.netns, '10.77.0.1');
    await lab.in(netns, 'ip', 'addr', 'add', '10.77.0.1/32', 'dev', 'lo');
    await lab.in(netns, 'busybox', 'arping', '-U', '-c', '2', '-I', 'eth0', '10.77.0.1').catch(() => '');
    await lab.in(netns, 'ip', 'addr', 'del', '10.77.0.1/32', 'dev', 'lo');
    expect(await lab.in(b.netns, 'ip', 'neigh', 'show', '10.77.0.1')).toContain('56:43:47:00:00:01');
    expect(await lab.lease(a)).toContain('ip=10.77.0.11 ');
    expect(await lab.ping(netns, '10.77.0.1')).toBe(true);
  });

  it('sends and gets no IPv6, so no router advertisements', async () => {
    expect(await lab.ping(a.netns, 'ff02::1%eth0', '-6')).toBe(false);
  });
});

describe('the way out', () => {
  const answers = async (client: Client, address: string, port = 7000): Promise<boolean> =>
    (
      await lab.in(client.netns, 'socat', '-T', '2', `TCP:${address}:${port},connect-timeout=2`, '-').catch(() => '')
    ).startsWith('served');
  const ends: (() => Promise<void>)[] = [];
  const [gateway, neighbour, router, behindRouter, far] = [
    '198.51.100.1',
    '198.51.100.3',
    '198.51.100.4',
    '192.0.2.77',
    '203.0.113.9',
  ];

  beforeAll(async () => {
    await lab.lease(a);
    for (const address of [gateway, neighbour, router, behindRouter, far])
      ends.push(await lab.serve(lab.outside, address, 7000));
    ends.push(await lab.serve(lab.outside, neighbour, 53));
    ends.push(await lab.serve(lab.host, '198.51.100.2', 7000));
  });
  afterAll(async () => {
    for (const end of ends.splice(0)) await end();
    await lab.apply(document(everything()));
  });

  it("leads through the uplink's gateway, and not to what the host itself is connected to", async () => {
    expect(await answers(a, far)).toBe(true);
    for (const address of [gateway, neighbour, router]) expect(await answers(a, address)).toBe(false);
  });

  it('is no static route of the host', async () => {
    expect(await lab.in(lab.host, 'ping', '-c', '1', '-W', '2', behindRouter)).toContain(' 0% packet loss');
    expect(await answers(a, behindRouter)).toBe(false);
  });

  it("reaches none of the cloud's machines, wherever they are, nor the host itself", async () => {
    await lab.apply(document(everything(), { ...plainEgress, hosts: ['198.51.100.2', far] }));
    expect(await answers(a, far)).toBe(false);
    expect(await answers(a, '198.51.100.2')).toBe(false);
    await lab.apply(document(everything()));
    expect(await answers(a, far)).toBe(true);
  });

  it("is closed while the address of one of the cloud's machines is not found, but for what the operator allows", async () => {
    const known = (): unknown =>
      (JSON.parse(readFileSync(join(lab.dir, 'state/network/linux.json'), 'utf8')) as { machines: unknown }).machines;
    await lab.apply(document(everything(), { ...plainEgress, hosts: ['hv-09.invalid', 'localhost'] }));
    expect(await answers(a, far)).toBe(false);
    expect(known()).toEqual({ localhost: ['127.0.0.1'] });
    await lab.apply(document(everything(), { ...plainEgress, hosts: ['hv-09.invalid'], allow: [`${far}/32`] }));
    expect(await answers(a, far)).toBe(true);
    await lab.apply(document(everything(), { ...plainEgress, hosts: ['localhost'] }));
    expect(await answers(a, far)).toBe(true);
  });

  it('follows what the operator allows and denies', async () => {
    await lab.apply(
      document(everything(), {
        ...plainEgress,
        deny: ['203.0.113.0/24'],
        allow: ['198.51.100.3/32', '198.51.100.2/32', '192.0.2.64/26'],
      }),
    );
    expect(await answers(a, far)).toBe(false);
    expect(await answers(a, neighbour)).toBe(true);
    expect(await answers(a, '198.51.100.2')).toBe(true);
    expect(await answers(a, behindRouter)).toBe(true);
    expect(await answers(a, router)).toBe(false);
    await lab.apply(document(everything(), { ...plainEgress, deny: ['203.0.113.0/24'], allow: ['203.0.113.9/32'] }));
    expect(await answers(a, far)).toBe(true);
  });

  it('is cut at once for a connection that is open when it is denied', async () => {
    await lab.apply(document(everything()));
    const echo = execFile('nsenter', [
      `--net=/run/netns/${lab.outside}`,
      '--',
      'socat',
      `TCP-LISTEN:7001,reuseaddr,bind=${far}`,
      'EXEC:cat',
    ]);
    await lab.until('port 7001', async () => (await lab.in(lab.outside, 'ss', '-ltn')).includes(':7001'));
    const open = spawn('nsenter', [`--net=/run/netns/${a.netns}`, '--', 'socat', `TCP:${far}:7001`, '-'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let heard = '';
    open.stdout.on('data', (chunk) => (heard += String(chunk)));
    open.stdin.write('one\n');
    await lab.until('the echo', () => Promise.resolve(heard.includes('one')));
    await lab.apply(document(everything(), { ...plainEgress, deny: ['203.0.113.0/24'] }));
    open.stdin.write('two\n');
    await lab.in(a.netns, 'ping', '-c', '2', '-W', '1', '10.77.0.1');
    expect(heard).not.toContain('two');
    for (const child of [open, echo]) child.kill('SIGKILL');
  });

  it('follows the routes of the host', async () => {
    await lab.apply(document(everything()));
    await lab.in(lab.host, 'ip', 'addr', 'add', '203.0.113.8/24', 'dev', 'up0');
    await lab.call({ method: 'verify' });
    expect(await answers(a, far)).toBe(false);
    await lab.in(lab.host, 'ip', 'addr', 'del', '203.0.113.8/24', 'dev', 'up0');
    await lab.call({ method: 'verify' });
    expect(await answers(a, far)).toBe(true);
  });
});

describe('drift', () => {
  const works = async (): Promise<void> => {
    expect(await lab.lease(a)).toContain('ip=10.77.0.11 ');
    expect(await lab.ping(a.netns, '10.77.0.12')).toBe(true);
    expect(await lab.ping(a.netns, '203.0.113.9')).toBe(true);
  };
  const rules = (netns: string): Promise<string> => lab.in(netns, 'nft', 'list', 'ruleset');

  it('is not seen where there is none', async () => {
    const netns = instanceNetns(lab.hash, a.port.instanceId);
    const [before, links] = [await rules(netns), await lab.in(netns, 'ip', '-o', 'link')];
    await lab.call({ method: 'verify' });
    expect(await rules(netns)).toBe(before);
    expect(await lab.in(netns, 'ip', '-o', 'link')).toBe(links);
    await works();
  });

  it('of rules is repaired', async () => {
    const instance = instanceNetns(lab.hash, a.port.instanceId);
    const [before, host] = [await rules(instance), await rules(lab.host)];
    await lab.in(instance, 'nft', 'flush', 'chain', 'bridge', 'vcs', 'prerouting');
    await lab.in(lab.host, 'nft', 'delete', 'table', 'inet', hostTable(lab.hash));
    await lab.in(lab.host, 'nft', 'add', 'table', 'inet', 'foreign');
    await lab.call({ method: 'verify' });
    expect(await rules(instance)).toBe(before);
    expect((await rules(lab.host)).replace('table inet foreign {\n}\n', '')).toBe(host);
    expect(await rules(lab.host)).toContain('foreign');
    await works();
  });

  it('of links, addresses and namespaces is repaired', async () => {
    const network = lab.network(1, []);
    const netns = lab.netnsOf(network);
    await run('ip', ['-n', netns, 'link', 'del', portName(a.port.id)]);
    await run('ip', ['-n', netns, 'addr', 'flush', 'dev', 'vbr']);
    await run('ip', ['-n', netns, 'link', 'add', 'stray', 'type', 'bridge']);
    await run('ip', ['netns', 'del', routerNetns(lab.hash, network.id)]);
    await run('ip', ['-n', lab.host, 'link', 'del', hostLinkName(lab.hash, lab.network(2, []).id)]);
    await lab.call({ method: 'verify' });
    expect(await lab.in(netns, 'ip', '-o', 'link')).not.toContain('stray');
    await works();
    expect(await lab.ping(other.netns, '203.0.113.9')).toBe(true);
    await lab.until('metadata', async () => (await lab.http(a.netns, '/latest/meta-data/hostname')).body === 'vm1');
  });

  it('of the network bridge is repaired, DHCP included', async () => {
    await run('ip', ['-n', lab.netnsOf(lab.network(1, [])), 'link', 'del', 'vbr']);
    await lab.call({ method: 'verify' });
    await works();
    expect((await lab.http(a.netns, '/latest/meta-data/hostname')).body).toBe('vm1');
  });

  it('of a whole network namespace is repaired, metadata included', async () => {
    await run('ip', ['netns', 'del', lab.netnsOf(lab.network(1, []))]);
    await lab.call({ method: 'verify' });
    await works();
    await lab.until('metadata', async () => (await lab.http(a.netns, '/latest/meta-data/hostname')).body === 'vm1');
  });

  it('of a dead DHCP server is repaired', async () => {
    const { pid } = JSON.parse(
      readFileSync(join(lab.dir, 'run/network', lab.network(1, []).id, 'process.json'), 'utf8'),
    ) as { pid: number };
    process.kill(pid, 'SIGKILL');
    expect(await lab.lease(a)).toBeNull();
    await lab.call({ method: 'verify' });
    await works();
  });
});

describe('a restart of the agent', () => {
  it.each([
    ['stopped', false],
    ['killed', true],
  ])('that was %s is not felt by guests', async (_how, kill) => {
    const pinging = lab.in(a.netns, 'ping', '-i', '0.05', '-c', '60', '-W', '1', '203.0.113.9');
    const server = JSON.parse(
      readFileSync(join(lab.dir, 'run/network', lab.network(1, []).id, 'process.json'), 'utf8'),
    ) as unknown;
    await lab.stopAgent(kill);
    expect((await lab.http(a.netns, '/latest/meta-data/hostname')).status).toBe(0);
    await lab.startAgent();
    await lab.call({ method: 'verify' });
    expect(await pinging).toContain(' 0% packet loss');
    expect(
      JSON.parse(readFileSync(join(lab.dir, 'run/network', lab.network(1, []).id, 'process.json'), 'utf8')),
    ).toEqual(server);
    await lab.until('metadata', async () => (await lab.http(a.netns, '/latest/meta-data/hostname')).body === 'vm1');
    expect(await lab.lease(a)).toContain('ip=10.77.0.11 ');
    const superseded = await lab.apply({ generation: 1, networks: [], egress: plainEgress });
    expect(superseded.superseded).toBe(true);
  });
});

describe('changes', () => {
  it('of one port leave the others alone, and an address moves to another MAC at once', async () => {
    const pinging = lab.in(a.netns, 'ping', '-i', '0.05', '-c', '40', '-W', '1', '10.77.0.1');
    await lab.removeClient(b);
    await lab.apply(
      document([lab.network(1, [lab.port(1, '10.77.0.11')]), lab.network(2, [lab.port(3, '10.77.0.11')])]),
    );
    await lab.apply(
      document([
        lab.network(1, [lab.port(1, '10.77.0.11'), lab.port(4, '10.77.0.12', '3600')]),
        lab.network(2, [lab.port(3, '10.77.0.11')]),
      ]),
    );
    b = await lab.client(lab.port(4, '10.77.0.12'));
    expect(await lab.lease(b)).toContain('ip=10.77.0.12 ');
    expect(await pinging).toContain(' 0% packet loss');
  });

  it('of what is handed out reach DHCP', async () => {
    await lab.apply(
      document([lab.network(1, [lab.port(1, '10.77.0.11'), lab.port(4, '10.77.0.12')], { dns: ['203.0.113.54'] })]),
    );
    expect(await lab.lease(a)).toContain('dns=203.0.113.54');
  });

  it('without NAT cut the way out, and only that', async () => {
    await lab.apply(document([lab.network(1, [lab.port(1, '10.77.0.11'), lab.port(4, '10.77.0.12')], { nat: false })]));
    expect(await lab.lease(a)).toMatch(/routes=169\.254\.169\.254\/32 10\.77\.0\.1$/);
    expect(await lab.ping(a.netns, '10.77.0.12')).toBe(true);
    expect(await lab.ping(a.netns, '203.0.113.9')).toBe(false);
    expect((await lab.http(a.netns, '/latest/meta-data/hostname')).body).toBe('vm1');
  });

  it('that cannot be made put the port in error with the reason, and no other', async () => {
    const [good, bad] = [lab.port(1, '10.77.0.11'), lab.port(5, '10.77.0.15')];
    const result = await lab.apply(
      document([lab.network(1, [good, lab.port(4, '10.77.0.12'), { ...bad, address: '10.77.0.999' }])]),
    );
    expect(result.ports.map((p) => p.state)).toEqual(['active', 'active', 'error']);
    expect(result.ports[2]?.message).toContain('10.77.0.999');
    await expect(lab.call({ method: 'of', instanceId: bad.instanceId, portIds: [bad.id] })).rejects.toThrow(
      'not active',
    );
    const mended = await lab.apply(document([lab.network(1, [good, lab.port(4, '10.77.0.12'), bad])]));
    expect(mended.ports.map((p) => p.state)).toEqual(['active', 'active', 'active']);
  });

  it('to nothing remove everything', async () => {
    for (const client of [a, b, other]) await lab.removeClient(client);
    await lab.in(lab.host, 'nft', 'delete', 'table', 'inet', 'foreign');
    const result = await lab.apply(document([]));
    expect(result.ports).toEqual([]);
    await lab.until('an empty host', async () => (await lab.leftovers()).length === 0);
    expect(await lab.in(lab.host, 'nft', 'list', 'ruleset')).toBe('');
    expect(await lab.in(lab.host, 'ip', '-br', 'link')).toMatch(/^lo .*\nup0@.*\n$/);
    await lab.stopAgent();
  });
});
