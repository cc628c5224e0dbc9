import { randomUUID } from 'node:crypto';
import { TestCloud } from '../support/cloud';

const minutes = 60_000;

describe('bad input over the whole stack', () => {
  let cloud: TestCloud;
  let stranger: string;

  beforeAll(async () => {
    cloud = await TestCloud.start('bad', { hosts: ['h1'] });
    await cloud.furnish();
    await cloud.api.ok('POST', '/flavors', { name: 'huge', vcpus: 512, memoryBytes: 2 ** 40 });
    const admin = cloud.api.token;
    const other = await cloud.api.ok('POST', '/projects', { name: 'other' });
    const user = await cloud.api.ok('POST', '/users', {
      name: 'stranger',
      password: 'a long enough password',
    });
    await cloud.api.ok('PUT', `/projects/${other.id}/members/${user.id}`, { role: 'member' });
    await cloud.api.login('stranger', 'a long enough password');
    stranger = cloud.api.token;
    cloud.api.token = admin;
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const body = (more: Record<string, unknown> = {}) => ({
    name: `n-${randomUUID().slice(0, 8)}`.replaceAll('-', 'x'),
    flavor: 'tiny',
    image: 'linux',
    networks: [{ network: 'n1' }],
    ...more,
  });
  const create = (more: Record<string, unknown> | string) =>
    cloud.api.unchecked('POST', '/instances?project=default', typeof more === 'string' ? more : body(more));

  it.each<[string, Record<string, unknown> | string, number, string, string | undefined]>([
    ['an unknown field', { nmae: 'x' }, 400, 'invalid_request', 'body.nmae'],
    ['a wrong type', { name: 7 }, 400, 'invalid_request', 'body.name'],
    ['a name of 64 characters', { name: 'a'.repeat(64) }, 422, 'unacceptable', 'body.name'],
    ['a control character in the name', { name: 'a\u0000b' }, 422, 'unacceptable', 'body.name'],
    [
      'a name that looks like an id',
      { name: '0f8b2c1e-0000-4000-8000-000000000000' },
      422,
      'unacceptable',
      'body.name',
    ],
    ['malformed JSON', '{"name": ', 400, 'malformed_json', undefined],
    ['no network', { networks: [] }, 422, 'unacceptable', 'body.networks'],
    ['an unknown flavor', { flavor: 'none' }, 404, 'not_found', undefined],
    ['an unknown image', { image: 'none' }, 404, 'not_found', undefined],
    ['an unknown network', { networks: [{ network: 'none' }] }, 404, 'not_found', undefined],
    [
      'an address outside the subnet',
      { networks: [{ network: 'n1', address: '10.99.0.5' }] },
      422,
      'address_outside',
      'body.networks.0.address',
    ],
    ['a key that is none', { sshKeys: ['ssh-ed25519 nonsense'] }, 422, 'invalid_ssh_key', 'body.sshKeys.0'],
    [
      'far more user data than that',
      { userData: Buffer.alloc(300_000).toString('base64') },
      422,
      'too_long',
      'body.userData',
    ],
    ['user data that is no base64', { userData: '#cloud-config' }, 422, 'unacceptable', 'body.userData'],
    ['a config drive of an unknown form', { configDrive: 'floppy' }, 422, 'unacceptable', 'body.configDrive'],
    [
      'two default routes',
      {
        networks: [
          { network: 'n1', defaultRoute: true },
          { network: 'n1', defaultRoute: true },
        ],
      },
      422,
      'several_default_routes',
      'body.networks.1.defaultRoute',
    ],
    ['user data over 64 KiB', { userData: Buffer.alloc(65_537).toString('base64') }, 422, 'too_long', 'body.userData'],
  ])('refuses %s with a stable code and the field', async (_what, input, status, code, path) => {
    const answer = await create(input);
    expect(answer.body).toMatchObject({ status, code, requestId: expect.any(String) });
    expect(answer.status).toBe(status);
    if (path !== undefined) expect(answer.body.errors?.map((e) => e.path)).toContain(path);
  });

  it.each([
    'instances',
    'images',
    'networks',
    'flavors',
    'hosts',
    'tasks',
    'users',
    'projects',
    'volumes',
    'ports',
  ] as const)('refuses a cursor that the list of %s did not give', async (noun) => {
    const elsewhere = Buffer.from(JSON.stringify(['other', 'x', 'y'])).toString('base64url');
    for (const cursor of ['nonsense', elsewhere]) {
      expect(await cloud.api.call('GET', `/${noun}?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_cursor', errors: [{ path: 'query.cursor' }] },
      });
    }
  });

  it('says per host why a flavor fits nowhere', async () => {
    const answer = await create({ flavor: 'huge' });
    expect(answer).toMatchObject({
      status: 409,
      body: { code: 'no_host', hosts: [{ host: 'h1', code: 'vcpus', reason: expect.stringContaining('512') }] },
    });
  });

  it('refuses a body over the limit', async () => {
    const answer = await cloud.api.unchecked(
      'POST',
      '/instances?project=default',
      JSON.stringify({ name: 'x'.repeat(2_000_000) }),
    );
    expect(answer).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
  });

  it.each(['test', 'a.b.c', 'vcs_x_y', 'a%00b'])('answers 401 to the token %s', async (token) => {
    const own = cloud.api.token;
    cloud.api.token = token;
    const answer = await cloud.api.call('GET', '/instances').finally(() => (cloud.api.token = own));
    expect(answer.status).toBe(401);
  });

  it(
    'hides what other projects have, and takes no name twice',
    async () => {
      const { instance, taskId } = await cloud.create('taken');
      await cloud.settled(taskId);
      expect(await create({ name: 'taken' })).toMatchObject({
        status: 409,
        body: { code: 'name_taken', errors: [{ path: 'body.name' }] },
      });
      const own = cloud.api.token;
      cloud.api.token = stranger;
      try {
        for (const [method, path] of [
          ['GET', ''],
          ['DELETE', ''],
          ['POST', '/actions/stop'],
          ['POST', '/actions/console'],
        ] as const) {
          expect(
            await cloud.api.unchecked(
              method,
              `/instances/${instance.id}${path}`,
              method === 'POST' && path.endsWith('stop') ? {} : undefined,
            ),
          ).toMatchObject({ status: 404, body: { code: 'not_found' } });
        }
        expect(await cloud.api.ok('GET', '/instances')).toMatchObject({ items: [] });
        expect((await cloud.api.call('GET', `/tasks/${taskId}`)).status).toBe(404);
        expect((await cloud.api.call('GET', '/hosts')).status).toBe(403);
      } finally {
        cloud.api.token = own;
      }
      await cloud.settled((await cloud.api.ok('DELETE', `/instances/${instance.id}`)).taskId);
    },
    2 * minutes,
  );

  it(
    'gives fifty equal requests with one Idempotency-Key one instance and fifty equal answers',
    async () => {
      const key = { 'idempotency-key': randomUUID() };
      const same = body({ name: 'only-once' });
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => cloud.api.call('POST', '/instances?project=default', same, key)),
      );
      expect(new Set(answers.map((a) => a.status))).toEqual(new Set([202]));
      expect(new Set(answers.map((a) => JSON.stringify(a.body))).size).toBe(1);
      const reused = await cloud.api.call('POST', '/instances?project=default', body({ name: 'other' }), key);
      expect(reused).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
      const id = answers[0]?.body.instance.id ?? '';
      await cloud.settled((await cloud.api.ok('DELETE', `/instances/${id}`)).taskId);
    },
    2 * minutes,
  );

  it('states the smallest network and refuses host bits', async () => {
    expect(
      await cloud.api.call('POST', '/networks?project=default', { name: 'small', subnet: '10.20.0.0/30' }),
    ).toMatchObject({ status: 422, body: { code: 'network_too_small' } });
    expect(
      await cloud.api.call('POST', '/networks?project=default', { name: 'odd', subnet: '10.20.0.1/24' }),
    ).toMatchObject({ status: 422 });
  });

  it('has left nothing of all that', async () => {
    expect((await cloud.api.ok('GET', '/instances')).items).toEqual([]);
    expect(cloud.leftovers()).toEqual([]);
    const { items } = await cloud.api.ok('GET', '/hosts');
    expect(items.map((h) => h.capacity)).toMatchObject([{ instances: 0, vcpusUsed: 0 }]);
    const networks = await cloud.api.ok('GET', '/networks');
    expect(networks.items.map((n) => n.addresses.used)).toEqual([0]);
  });
});
