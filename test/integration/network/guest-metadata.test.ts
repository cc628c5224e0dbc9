import { plainEgress } from '../../../src/modules/network/contract/host-document';
import type { PlainDocument } from '../../support/plain-networks';
import { HostLab, type Client } from './host-lab';
jest.setTimeout(120_000);

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
const userData = Buffer.from([0, 255, 10, 13, 35, 33, 128]);

beforeAll(async () => {
  lab = await HostLab.start('metadata');
  for (const n of [1, 2, 3, 6]) {
    const { instanceId, hostname } = lab.port(n, '10.77.0.10');
    lab.metadata[instanceId] = {
      instanceId,
      name: `the ${hostname}`,
      hostname,
      sshKeys: [`ssh-ed25519 AAAA${n} me`],
      userData: n === 1 ? userData.toString('base64') : '',
      vendorData: '',
      flavor: 'tiny',
      project: 'p',
      metadata: { role: 'web "1"' },
    };
  }
  await lab.startAgent();
  await lab.apply(document(everything()));
  a = await lab.client(lab.port(1, '10.77.0.11'));
  b = await lab.client(lab.port(2, '10.77.0.12'));
  other = await lab.client(lab.port(3, '10.77.0.11'));
  for (const client of [a, b, other]) await lab.lease(client);
});
afterAll(() => lab.close());

describe('the metadata service', () => {
  const get = async (
    client: Client,
    path: string,
    headers: Record<string, string> = {},
    method = 'GET',
  ): Promise<{ status: number; body: string; headers: string }> => lab.http(client.netns, path, headers, method);

  it('knows the caller by its address', async () => {
    await lab.until('metadata', async () => (await get(a, '/')).status === 200);
    expect((await get(a, '/latest/meta-data/instance-id')).body).toBe(lab.port(1, '').instanceId);
    expect((await get(b, '/latest/meta-data/instance-id')).body).toBe(lab.port(2, '').instanceId);
    await lab.until('metadata of the other network', async () => (await get(other, '/')).status === 200);
    expect((await get(other, '/latest/meta-data/instance-id')).body).toBe(lab.port(3, '').instanceId);
    await lab.in(lab.netnsOf(lab.network(1, [])), 'ip', 'addr', 'add', '10.77.0.200/32', 'dev', 'vbr');
    expect((await lab.http(lab.netnsOf(lab.network(1, [])), '/latest/meta-data/')).status).toBe(404);
    await lab.in(lab.netnsOf(lab.network(1, [])), 'ip', 'addr', 'del', '10.77.0.200/32', 'dev', 'vbr');
  });

  it('speaks EC2, with and without session tokens', async () => {
    expect((await get(a, '/latest/meta-data/')).body.split('\n')).toEqual(
      expect.arrayContaining(['instance-id', 'hostname', 'local-ipv4', 'mac', 'public-keys/']),
    );
    expect((await get(a, '/latest/meta-data/hostname')).body).toBe('vm1');
    expect((await get(a, '/latest/meta-data/local-ipv4')).body).toBe('10.77.0.11');
    expect((await get(a, '/2009-04-04/meta-data/public-keys/')).body).toBe('0=key-0');
    expect((await get(a, '/latest/meta-data/public-keys/0/openssh-key')).body).toBe('ssh-ed25519 AAAA1 me');
    const token = await get(a, '/latest/api/token', { 'X-aws-ec2-metadata-token-ttl-seconds': '60' }, 'PUT');
    expect(token.status).toBe(200);
    expect((await get(a, '/latest/meta-data/mac', { 'X-aws-ec2-metadata-token': token.body })).body).toBe(
      '56:43:53:00:00:01',
    );
    expect((await get(b, '/latest/meta-data/mac', { 'X-aws-ec2-metadata-token': token.body })).status).toBe(401);
    expect((await get(a, '/latest/api/token', {}, 'PUT')).status).toBe(400);
  });

  it('gives user-data byte for byte', async () => {
    const answer = await lab.in(
      a.netns,
      'sh',
      '-c',
      `printf 'GET /latest/user-data HTTP/1.0\\r\\n\\r\\n' | socat -t 5 - TCP:169.254.169.254:80 | tail -c ${userData.length} | od -An -tx1`,
    );
    expect(answer.replaceAll(/\s/g, '')).toBe(userData.toString('hex'));
    for (const path of [
      '/latest/user-data',
      '/openstack/latest/user_data',
      '/openstack/latest/vendor_data.json',
      '/openstack/latest/vendor_data2.json',
    ])
      expect((await get(b, path)).status).toBe(404);
  });

  it('says what each answer is', async () => {
    const types = {
      '/': 'text/plain',
      '/openstack': 'text/plain',
      '/latest/meta-data/instance-id': 'text/plain',
      '/openstack/latest/meta_data.json': 'application/json',
      '/openstack/2018-08-27/network_data.json': 'application/json',
      '/latest/user-data': 'application/octet-stream',
      '/openstack/latest/user_data': 'application/octet-stream',
    };
    for (const [path, type] of Object.entries(types))
      expect((await get(a, path)).headers).toMatch(new RegExp(`^HTTP/1.1 200 [^]*content-type: ${type}`));
  });

  it('speaks OpenStack and NoCloud', async () => {
    expect(JSON.parse((await get(a, '/openstack/latest/meta_data.json')).body)).toMatchObject({
      uuid: lab.port(1, '').instanceId,
      hostname: 'vm1',
      public_keys: { 'key-0': 'ssh-ed25519 AAAA1 me' },
    });
    expect(JSON.parse((await get(a, '/openstack/latest/network_data.json')).body)).toMatchObject({
      links: [{ ethernet_mac_address: '56:43:53:00:00:01', mtu: 1450 }],
    });
    expect((await get(a, '/nocloud/meta-data')).body).toContain(`instance-id: "${lab.port(1, '').instanceId}"`);
    expect((await get(a, '/nocloud/network-config')).body).toContain('macaddress: "56:43:53:00:00:01"');
    expect(await get(b, '/nocloud/user-data')).toMatchObject({ status: 200, body: '' });
  });

  it('keeps the password that a guest makes, once, and gives it to that guest alone', async () => {
    const post = async (body: string, headers: Record<string, string> = {}): Promise<number> =>
      (
        await lab.http(
          a.netns,
          '/openstack/2013-04-04/password',
          { 'content-length': String(body.length), ...headers },
          'POST',
          undefined,
          undefined,
          body,
        )
      ).status;
    expect(await get(a, '/openstack/2013-04-04/password')).toMatchObject({ status: 200, body: '' });
    for (const bad of ['', 'a\nb', 'x'.repeat(1021)]) expect(await post(bad)).toBe(400);
    expect((await get(a, '/openstack/latest/password')).body).toBe('');
    expect(await post('bWluZQ==')).toBe(200);
    expect(await post('b3RoZXI=')).toBe(409);
    expect((await get(a, '/openstack/latest/password')).body).toBe('bWluZQ==');
    expect((await get(b, '/openstack/latest/password')).body).toBe('');
    expect((await get(a, '/openstack/latest/password/x')).status).toBe(404);
  });

  it('refuses forwarded requests, odd methods and unknown paths', async () => {
    expect((await get(a, '/latest/meta-data/', { 'X-Forwarded-For': '10.0.0.1' })).status).toBe(403);
    expect((await get(a, '/latest/meta-data/', {}, 'POST')).status).toBe(405);
    for (const path of [
      '/nope',
      '/latest/meta-data/__proto__',
      '/latest/meta-data/constructor',
      '/openstack/latest/x',
      `/${'a'.repeat(2000)}`,
    ])
      expect((await get(a, path)).status).toBe(404);
    // One that is still sending when it is answered gets its answer all the same.
    for (const length of [20_000, 200_000, 20_000])
      expect((await get(a, '/', { 'x-long': 'a'.repeat(length) })).status).toBe(431);
    expect((await get(a, '/')).status).toBe(200);
  });
});

describe('a guest with two cards', () => {
  let first: Client;
  let second: Client;

  // The first card is on the network whose id sorts last, and both are made in the other order.
  beforeAll(async () => {
    const cards = [
      {
        ...lab.port(7, '10.77.0.15'),
        instanceId: lab.port(6, '').instanceId,
        hostname: 'vm6',
        position: 0,
        defaultRoute: true,
      },
      { ...lab.port(6, '10.77.0.14'), position: 1, defaultRoute: false },
    ] as const;
    const result = await lab.apply(
      document([
        lab.network(1, [lab.port(1, '10.77.0.11'), lab.port(2, '10.77.0.12'), cards[1]]),
        lab.network(2, [lab.port(3, '10.77.0.11'), cards[0]], { mtu: 1400, dns: ['203.0.113.54'] }),
      ]),
    );
    expect(result.ports.map((p) => p.state)).toEqual(['active', 'active', 'active', 'active', 'active']);
    [first, second] = [await lab.client(cards[0]), await lab.client(cards[1])];
  });
  afterAll(async () => {
    for (const client of [first, second]) await lab.removeClient(client);
    await lab.apply(document(everything()));
  });

  it('gets its default route through the first one alone', async () => {
    expect(await lab.lease(first)).toMatch(
      /ip=10.77.0.15 .* router=10.77.0.1 .* dns=203.0.113.54 routes=169.254.169.254\/32 10.77.0.1 0.0.0.0\/0 10.77.0.1$/,
    );
    expect(await lab.lease(second)).toMatch(/ip=10.77.0.14 .* router= .* routes=169.254.169.254\/32 10.77.0.1$/);
    expect(await lab.ping(first.netns, '203.0.113.9')).toBe(true);
    expect(await lab.ping(second.netns, '203.0.113.9')).toBe(false);
  });

  it('reads of both in the user’s order, on either', async () => {
    for (const client of [first, second]) {
      await lab.until('metadata', async () => (await lab.http(client.netns, '/')).status === 200);
      const data = JSON.parse((await lab.http(client.netns, '/openstack/latest/network_data.json')).body) as {
        links: { ethernet_mac_address: string; mtu: number }[];
        services: { address: string }[];
      };
      expect(data.links.map((l) => [l.ethernet_mac_address, l.mtu])).toEqual([
        ['56:43:53:00:00:07', 1400],
        ['56:43:53:00:00:06', 1450],
      ]);
      expect(data.services.map((s) => s.address)).toEqual(['203.0.113.54', '203.0.113.53']);
      expect(
        (await lab.http(client.netns, '/latest/meta-data/network/interfaces/macs/56:43:53:00:00:07/device-number'))
          .body,
      ).toBe('0');
      expect(JSON.parse((await lab.http(client.netns, '/openstack/2018-08-27/meta_data.json')).body)).toMatchObject({
        uuid: lab.port(6, '').instanceId,
        hostname: 'vm6',
      });
    }
  });
});
