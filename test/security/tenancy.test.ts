import { randomUUID } from 'node:crypto';
import type { BodyOf } from '../../src/rest/rest-call';
import type { InstanceWithTask } from '../../src/rest/rest-paths';
import type { Answer, ApiClient, Refusal } from '../support/api-client';
import { waitFor } from '../support/wait-for';
import { ManagementStack } from './management-stack';

jest.setTimeout(120_000);

type CreateInstance = BodyOf<'post', '/instances'>;

/** How often each outcome came. */
const outcomes = (answers: readonly Answer<Pick<Refusal, 'code' | 'errors'>>[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const key = status < 300 ? 'done' : `${status} ${body.code} ${body.errors?.[0]?.path ?? ''}`.trim();
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};

const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIQ6YGHAn48JdGZEOQJX2kCmpXGYoN7JmVuJqxZcRVdC somebody';
const hostName = 'rack-7-unit-3';

/**
 * A host that management believes to be there: what is accepted for it stays accepted, for nobody answers its calls.
 */
describe('what tenants learn and take from each other', () => {
  let stack: ManagementStack;
  let member: ApiClient;
  let hostId: string;
  let flavor: string;

  beforeAll(async () => {
    stack = await ManagementStack.start();
    await stack.admin.ok('POST', '/projects', { name: 'red' });
    member = await stack.user('member', { red: 'member' });
    hostId = randomUUID();
    await stack.db.database.query(
      `INSERT INTO host (id, name, address, port, state, schedulable, state_reason, last_seen_at, heartbeat_ok, architecture, threads, memory_bytes, disk_bytes, parts, stores)
       VALUES ($1, $2, '192.0.2.77', 8444, 'ready', true, '', now() + interval '1 hour', true, 'x86_64', 64, 68719476736, 1099511627776, '{"vmms":[{"kind":"simulated","usable":true,"capabilities":[]}],"pools":[{"name":"default","totalBytes":1099511627776}]}', '[{"key":"pools/default","part":"pools","name":"default","bytes":1099511627776}]')`,
      [hostId, hostName],
    );
    flavor = (await stack.admin.ok('POST', '/flavors', { name: 'tiny', vcpus: 1, memoryBytes: 2 ** 28 })).id;
    await stack.admin.ok('POST', '/flavors', { name: 'giant', vcpus: 1000, memoryBytes: 2 ** 43 });
  });
  afterAll(() => stack?.close());

  const network = async (name: string): Promise<string> =>
    (await member.ok('POST', '/networks', { name, subnet: '10.0.0.0/24' })).id;
  const image = async (name: string): Promise<string> => {
    const { id } = await member.ok('POST', '/images', { name });
    await stack.db.database.query(
      `UPDATE image SET state = 'ready', sha256 = repeat('0', 64), virtual_bytes = 4096, source_format = 'raw' WHERE id = $1`,
      [id],
    );
    return id;
  };
  const create = (
    name: string,
    more: Pick<CreateInstance, 'image' | 'networks'> & Partial<CreateInstance>,
    client = member,
  ): Promise<Answer<Partial<InstanceWithTask> & Omit<Refusal, 'instance'>>> =>
    client.call('POST', '/instances?project=red', { name, flavor: 'tiny', ...more });

  it('is neither hosts nor what is free on them: in instances, volumes, tasks, their texts and events', async () => {
    const networks = [{ network: await network('seen') }];
    const created = await create('seen', { image: await image('seen'), networks });
    expect(created.status).toBe(202);
    const task = created.body.taskId ?? '';
    // Until it has called the host, which does not answer.
    const told = await waitFor('the task to wait for its host', async () => {
      const detail = await stack.admin.ok('GET', `/tasks/${task}`);
      return detail.waiting?.kind === 'retry' && detail;
    });
    expect(JSON.stringify(told)).toContain(hostName);
    expect(JSON.stringify(await stack.admin.ok('GET', '/instances?project=red'))).toContain(hostName);
    for (const path of [
      `/instances/${created.body.instance?.id ?? ''}`,
      '/instances',
      '/volumes',
      '/ports',
      `/tasks/${task}`,
      '/tasks',
      '/networks',
      '/images',
    ] as const) {
      const text = JSON.stringify(await member.ok('GET', path));
      for (const secret of [hostName, hostId, '192.0.2.77']) expect(`${path}: ${text}`).not.toContain(secret);
    }
    const events = await stack.db.database.query<{ data: unknown }>(
      `SELECT data FROM outbox WHERE project_id = (SELECT id FROM project WHERE name = 'red')`,
    );
    expect(events.length).toBeGreaterThan(3);
    for (const secret of [hostName, hostId, '192.0.2.77']) expect(JSON.stringify(events)).not.toContain(secret);
  });

  it('is not whether a host exists, by any filter', async () => {
    for (const path of ['/instances', '/tasks'] as const) {
      const answers = [];
      for (const host of [hostName, hostId, 'nowhere', randomUUID()])
        answers.push(await member.call('GET', `${path}?host=${host}`));
      expect(outcomes(answers)).toEqual({ '403 forbidden': 4 });
      expect((await stack.admin.call('GET', `${path}?host=${hostName}`)).status).toBe(200);
    }
    expect(
      (
        await create('placed', {
          image: await image('placed'),
          networks: [{ network: await network('placed') }],
          host: hostName,
        })
      ).status,
    ).toBe(403);
  });

  it('is not how much room there is, when an instance does not fit', async () => {
    const request = { flavor: 'giant', image: await image('big'), networks: [{ network: await network('big') }] };
    const refused = await create('big', request);
    expect([refused.status, refused.body.code, refused.body.hosts]).toEqual([409, 'no_host', undefined]);
    expect(JSON.stringify(refused.body)).not.toMatch(/rack|GiB|vCPU|free/);
    const told = await create('big', request, stack.admin);
    expect(told.body).toMatchObject({
      code: 'no_host',
      hosts: [{ host: hostName, code: 'vcpus', reason: expect.stringContaining('1000') }],
    });
  });

  it('is `name_taken` for all losers of a race for a name, whatever is named', async () => {
    const networks = [{ network: await network('race-net') }];
    const picture = await image('race-image');
    const races: Record<string, (name: string) => Promise<Answer<Pick<Refusal, 'code' | 'errors'>>>> = {
      network: (name) => member.call('POST', '/networks', { name, subnet: '10.0.0.0/24' }),
      image: (name) => member.call('POST', '/images', { name }),
      'ssh key': (name) => member.call('POST', '/ssh-keys', { name, publicKey }),
      flavor: (name) => stack.admin.call('POST', '/flavors', { name, vcpus: 1, memoryBytes: 2 ** 28 }),
      project: (name) => stack.admin.call('POST', '/projects', { name }),
      user: (name) => stack.admin.call('POST', '/users', { name, password: 'a password for nobody' }),
      'API token': (name) => member.call('POST', '/api-tokens', { name }),
      instance: (name) => create(name, { image: picture, networks }),
    };
    for (const [noun, race] of Object.entries(races)) {
      const name = `race-${randomUUID().slice(0, 8)}`;
      const answers = await Promise.all(Array.from({ length: 8 }, () => race(name)));
      expect({ noun, ...outcomes(answers) }).toEqual({ noun, done: 1, '409 name_taken body.name': 7 });
    }
  });

  it('is `name_taken` when two objects are renamed to one name at once', async () => {
    for (const [list, make] of [
      ['/networks', (name: string) => network(name)],
      ['/projects', async (name: string) => (await stack.admin.ok('POST', '/projects', { name })).id],
    ] as const) {
      const ids = [await make(`a-${randomUUID().slice(0, 8)}`), await make(`b-${randomUUID().slice(0, 8)}`)];
      const name = `to-${randomUUID().slice(0, 8)}`;
      expect({
        list,
        ...outcomes(await Promise.all(ids.map((id) => stack.admin.call('PATCH', `${list}/${id}`, { name })))),
      }).toEqual({ list, done: 1, '409 name_taken body.name': 1 });
    }
  });

  it('keeps what an accepted create needs: network and image cannot go, and the refusal names the instance and its task', async () => {
    const [net, picture] = [await network('needed'), await image('needed')];
    const accepted = await create('needy', { image: picture, networks: [{ network: net }] });
    expect(accepted.status).toBe(202);
    for (const [path, code] of [
      [`/networks/${net}`, 'network_in_use'],
      [`/images/${picture}`, 'image_in_use'],
    ] as const) {
      const { status, body } = await member.call('DELETE', path);
      expect([status, body.code, body.task]).toEqual([409, code, accepted.body.taskId]);
      const id = accepted.body.instance?.id ?? '';
      expect(body.users?.find((user) => user.id === id)).toEqual({
        kind: 'instance',
        id,
        name: 'needy',
        href: `/api/v1/instances/${id}`,
        taskId: accepted.body.taskId,
      });
    }
  });

  it.each(['network', 'image'] as const)(
    'lets, of a create and a delete of its %s at once, one win: never both',
    async (noun) => {
      for (let round = 0; round < 12; round += 1) {
        const name = `${noun}-${round}`;
        const needs = { network: await network(name), image: await image(name) };
        const path = noun === 'network' ? (`/networks/${needs.network}` as const) : (`/images/${needs.image}` as const);
        const [made, gone] = await Promise.all([
          create(name, { image: needs.image, networks: [{ network: needs.network }] }),
          member.call('DELETE', path),
        ]);
        const outcome = `create ${made.status}, delete ${gone.status}`;
        expect(['create 202, delete 409', 'create 404, delete 204']).toContain(outcome);
      }
    },
  );

  it('lets keys and flavors go at any time, for an instance keeps its own copy', async () => {
    const key = (await member.ok('POST', '/ssh-keys', { name: 'mine', publicKey })).id;
    const own = (await stack.admin.ok('POST', '/flavors', { name: 'short-lived', vcpus: 1, memoryBytes: 2 ** 28 })).id;
    const made = await create('copying', {
      flavor: own,
      image: await image('copying'),
      networks: [{ network: await network('copying') }],
      sshKeys: ['mine'],
    });
    expect(made.status).toBe(202);
    await member.ok('DELETE', `/ssh-keys/${key}`);
    await stack.admin.ok('DELETE', `/flavors/${own}`);
    const instance = await stack.admin.ok('GET', `/instances/${made.body.instance?.id ?? ''}`);
    expect(instance).toMatchObject({
      flavor: { name: 'short-lived', vcpus: 1 },
      sshKeys: [expect.stringContaining('ssh-ed25519 ')],
    });
    expect(flavor).not.toBe(own);
  });

  it('is not whose instances use a public image: they are counted', async () => {
    await stack.admin.ok('POST', '/projects', { name: 'blue' });
    const shared = await image('shared');
    await stack.db.database.query('UPDATE image SET public = true WHERE id = $1', [shared]);
    const blue = await stack.user('blue', { blue: 'member' });
    const { id } = await blue.ok('POST', '/networks', { name: 'b', subnet: '10.0.0.0/24' });
    expect(
      (
        await blue.call('POST', '/instances', {
          name: 'secret-project-x',
          flavor: 'tiny',
          image: shared,
          networks: [{ network: id }],
        })
      ).status,
    ).toBe(202);
    const { body } = await member.call('DELETE', `/images/${shared}`);
    expect(body).toMatchObject({ code: 'image_in_use', users: [], detail: expect.stringMatching(/of other projects/) });
    expect(JSON.stringify(body)).not.toContain('secret-project-x');
  });

  it('names in a refusal what a project owns, the first ten and how many', async () => {
    await stack.admin.ok('POST', '/projects', { name: 'full' });
    for (let i = 0; i < 12; i += 1)
      await stack.admin.ok('POST', '/networks?project=full', {
        name: `n${String(i).padStart(2, '0')}`,
        subnet: '10.0.0.0/24',
      });
    const { status, body } = await stack.admin.call('DELETE', '/projects/full');
    expect([status, body.code, body.count, body.users?.length, body.users?.[0]?.name]).toEqual([
      409,
      'project_in_use',
      12,
      10,
      'n00',
    ]);
    expect(body.users?.[0]?.href).toMatch(/^\/api\/v1\/networks\/[0-9a-f-]{36}$/);
    expect(body.detail).toMatch(/network "n09" and 2 more\. Delete these first\.$/);
  });
});
