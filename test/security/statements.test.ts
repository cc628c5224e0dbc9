import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { Database } from '../../src/core/db/database';
import { HttpServer } from '../../src/core/http/server/http-server';
import type { ApiClient } from '../support/api-client';
import { ManagementStack } from './management-stack';

jest.setTimeout(120_000);

/** What a request asks the database: who may do what is known beforehand, so that there is only what it is about. */
describe('the statements of a request', () => {
  let stack: ManagementStack;
  let member: ApiClient;
  const asked = new AsyncLocalStorage<string[]>();
  let latest: string[] = [];
  const instance = { id: randomUUID(), name: 'counted' };
  const network = { id: '', name: 'counted' };

  beforeAll(async () => {
    stack = await ManagementStack.start();
    member = await stack.user('counter', { default: 'member' });
    const parts = (stack.app as unknown as { parts(): { get<T>(c: new (...args: never[]) => T): T } }).parts();
    parts.get(HttpServer).server.prependListener('request', () => {
      latest = [];
      asked.enterWith(latest);
    });
    const { op: ofWork, requestOp } = parts.get(Database);
    for (const op of [ofWork, requestOp]) {
      const { query } = op;
      op.query = (sql, params) => {
        asked.getStore()?.push(sql);
        return query(sql, params);
      };
    }
    const { id: projectId } = await stack.admin.ok('GET', '/projects/default');
    network.id = (await member.ok('POST', '/networks', { name: network.name, subnet: '10.9.0.0/24' })).id;
    await stack.db.database.query(
      `INSERT INTO instance (id, project_id, name, hostname, description, flavor_id, flavor_name, vcpus, memory_bytes, disk_bytes, image_id, image_name, architecture,
         nics, ssh_keys, user_data, stop_grace_seconds, state, power, created_by)
       VALUES ($1, $2, $3, $3, '', gen_random_uuid(), 'small', 1, 1, 1, gen_random_uuid(), 'linux', 'x86_64', '[]', '[]', '', 30, 'error', 'on', 'test')`,
      [instance.id, projectId, instance.name],
    );
    await stack.db.database.query(
      `INSERT INTO port (id, project_id, network_id, instance_id, host_id, hostname, position, mac, address, state)
       VALUES (gen_random_uuid(), $1, $2, $3, gen_random_uuid(), 'counted', 0, '02:00:00:00:00:01', '10.9.0.2', 'active')`,
      [projectId, network.id, instance.id],
    );
  });
  afterAll(() => stack?.close());

  const statementsOf = async (client: ApiClient, path: string): Promise<string[]> => {
    for (let i = 0; i < 2; i += 1) expect((await client.unchecked('GET', path)).status).toBe(200);
    return latest;
  };

  it.each([
    ['an instance by its id', () => `/instances/${instance.id}`],
    ['an instance by its name', () => `/instances/${instance.name}`],
    ['an instance by its name in a project', () => `/instances/${instance.name}?project=default`],
    ['instances', () => '/instances?limit=100'],
    ['instances of a project', () => '/instances?project=default'],
    ['instances of a name', () => '/instances?name=counted&sort=name'],
    ['instances that are looked for', () => '/instances?q=count'],
    ['a network', () => `/networks/${network.id}`],
    ['networks', () => '/networks'],
    ['ports', () => '/ports'],
    ['volumes', () => '/volumes'],
    ['images', () => '/images'],
    ['flavors', () => '/flavors'],
    ['SSH keys', () => '/ssh-keys'],
    ['tasks', () => '/tasks'],
    ['projects', () => '/projects'],
  ])('are one for %s', async (_what, path) => {
    for (const client of [member, stack.admin]) expect(await statementsOf(client, path())).toHaveLength(1);
  });

  it('are the account and its projects for who one is, and nothing of the session', async () => {
    const tables = (await statementsOf(member, '/whoami')).map((sql) => /FROM "(\w+)"/.exec(sql)?.[1]);
    expect(tables).toEqual(['app_user', 'project']);
  });

  it('show an instance with its ports, whoever asks', async () => {
    for (const client of [member, stack.admin])
      for (const path of [`/instances/${instance.id}`, `/instances/${instance.name}`])
        expect((await client.unchecked<{ ports: object[] }>('GET', path)).body.ports).toEqual([
          expect.objectContaining({
            networkId: network.id,
            network: 'counted',
            mac: '02:00:00:00:00:01',
            address: '10.9.0.2',
          }),
        ]);
  });
});
