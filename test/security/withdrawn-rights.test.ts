import type { ManagementApp } from '../../src/core/app/management-app';
import { authorityChannel } from '../../src/core/auth/channels/channels';
import { Database } from '../../src/core/db/database';
import { PrincipalRepository } from '../../src/modules/identity/management/authority/principal.repository';
import type { ApiClient } from '../support/api-client';
import { waitFor } from '../support/wait-for';
import { ManagementStack, passwordOf } from './management-stack';

jest.setTimeout(120_000);

type Ask = (client: ApiClient) => Promise<number>;

interface Case {
  title: string;
  /** The credential that loses something; what it asks before and after. */
  who: (name: string, project: string) => Promise<ApiClient>;
  ask?: (project: string) => Ask;
  withdraw: (name: string, project: string, own: ApiClient) => Promise<unknown>;
  refused: number;
}

const status = async (client: ApiClient, method: 'GET' | 'POST', path: string, body?: unknown): Promise<number> =>
  (await client.unchecked(method, path, body)).status;

/** What each process knows of who somebody is must not outlive the right. */
describe('a right that was taken away', () => {
  let first: ManagementStack;
  let second: ManagementStack;
  let next = 0;

  beforeAll(async () => {
    first = await ManagementStack.start();
    second = await ManagementStack.start({}, first);
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await second?.close();
    await first?.close();
  });

  const databaseOf = (app: ManagementApp): Database =>
    (app as unknown as { parts(): { get(c: typeof Database): Database } }).parts().get(Database);

  /** Until `work` is done and the process has been told of it; whoever subscribed before has been told too. */
  const told = async (stack: ManagementStack, work: () => Promise<unknown>): Promise<void> => {
    const heard: (string | null)[] = [];
    const forget = await databaseOf(stack.app).listen(authorityChannel, (payload) => void heard.push(payload));
    // Notices come in order: what belongs to earlier changes is over with this one.
    await first.db.database.query('SELECT pg_notify($1, $2)', [authorityChannel, 'from here on']);
    await waitFor('what was told before', () => heard.includes('from here on'));
    heard.length = 0;
    await work();
    await waitFor('the notice', () => heard.length > 0);
    await forget();
  };

  const member = (name: string, project: string): Promise<ApiClient> => first.user(name, { [project]: 'member' });
  const whoami: Ask = (client) => status(client, 'GET', '/whoami');
  /** Refused by its body where it is allowed: nothing is made. */
  const wouldCreate =
    (project: string): Ask =>
    async (client) =>
      (await status(client, 'POST', `/networks?project=${project}`, {})) === 400
        ? 200
        : status(client, 'POST', `/networks?project=${project}`, {});
  const reads =
    (project: string): Ask =>
    (client) =>
      status(client, 'GET', `/networks?project=${project}`);
  const apiToken = async (name: string, project: string): Promise<ApiClient> => {
    const owner = await member(name, project);
    return first.client((await owner.ok('POST', '/api-tokens', { name: 'ci' })).token);
  };
  const sessionOf = async (name: string): Promise<string> =>
    (await first.admin.ok('GET', `/users/${name}/sessions`)).items[0]?.id ?? '';

  const cases: Case[] = [
    { title: 'by a logout', who: member, withdraw: (_n, _p, own) => own.ok('POST', '/logout'), refused: 401 },
    {
      title: 'with a session that an administrator ends',
      who: member,
      withdraw: async (name) => first.admin.ok('DELETE', `/users/${name}/sessions/${await sessionOf(name)}`),
      refused: 401,
    },
    {
      title: 'with all sessions of a user',
      who: member,
      withdraw: (name) => first.admin.ok('DELETE', `/users/${name}/sessions`),
      refused: 401,
    },
    {
      title: 'with a user that is disabled',
      who: member,
      withdraw: (name) => first.admin.ok('PATCH', `/users/${name}`, { enabled: false }),
      refused: 401,
    },
    {
      title: 'from the API token of a user that is disabled',
      who: apiToken,
      withdraw: (name) => first.admin.ok('PATCH', `/users/${name}`, { enabled: false }),
      refused: 401,
    },
    {
      title: 'with a user that is deleted',
      who: member,
      withdraw: (name) => first.admin.ok('DELETE', `/users/${name}`),
      refused: 401,
    },
    {
      title: 'by a new password from an administrator',
      who: member,
      withdraw: (name) => first.admin.ok('PATCH', `/users/${name}`, { password: 'another password' }),
      refused: 401,
    },
    {
      title: 'from an API token, by a new password from an administrator',
      who: apiToken,
      withdraw: (name) => first.admin.ok('PATCH', `/users/${name}`, { password: 'another password' }),
      refused: 401,
    },
    {
      title: 'by a new password that its user set elsewhere',
      who: member,
      withdraw: async (name) => {
        const elsewhere = first.client();
        await elsewhere.login(name, passwordOf(name));
        await elsewhere.ok('POST', '/users/me/password', { current: passwordOf(name), password: 'another password' });
      },
      refused: 401,
    },
    {
      title: 'with an API token that is deleted',
      who: apiToken,
      withdraw: (name) => first.admin.ok('DELETE', `/users/${name}/api-tokens/ci`),
      refused: 401,
    },
    {
      title: 'from an administrator who is one no longer',
      who: (name) => first.user(name, {}, true),
      ask: () => (client) => status(client, 'GET', '/hosts'),
      withdraw: (name) => first.admin.ok('PATCH', `/users/${name}`, { admin: false }),
      refused: 403,
    },
    {
      title: 'with a membership',
      who: member,
      ask: reads,
      withdraw: (name, project) => first.admin.ok('DELETE', `/projects/${project}/members/${name}`),
      refused: 404,
    },
    {
      title: 'by a lower role',
      who: member,
      ask: wouldCreate,
      withdraw: (name, project) => first.admin.ok('PUT', `/projects/${project}/members/${name}`, { role: 'viewer' }),
      refused: 403,
    },
    {
      title: 'with the name of a project',
      who: member,
      ask: reads,
      withdraw: (_n, project) => first.admin.ok('PATCH', `/projects/${project}`, { name: `${project}-renamed` }),
      refused: 404,
    },
    {
      title: 'with a project',
      who: member,
      ask: reads,
      withdraw: (_n, project) => first.admin.ok('DELETE', `/projects/${project}`),
      refused: 404,
    },
  ];

  it.each(cases)('$title is gone at once here, and at every other process when it is told', async (one) => {
    const name = `user-${(next += 1)}`;
    const project = `project-${next}`;
    await first.admin.ok('POST', '/projects', { name: project });
    const here = await one.who(name, project);
    const there = second.client(here.token);
    const ask = one.ask?.(project) ?? whoami;
    for (const client of [here, there, here, there]) expect(await ask(client)).toBe(200);
    await told(second, async () => {
      await one.withdraw(name, project, here);
      expect(await ask(here)).toBe(one.refused);
    });
    expect(await ask(there)).toBe(one.refused);
  });

  it('was looked up once for many requests', async () => {
    const client = await first.user('often');
    const looked = jest.spyOn(PrincipalRepository.prototype, 'ofSession');
    for (let i = 0; i < 5; i += 1) expect(await whoami(client)).toBe(200);
    expect(looked.mock.calls.length).toBeLessThan(5);
    looked.mockRestore();
  });

  it('is gone although the connection that should have told of it was lost', async () => {
    const client = await first.user('unheard');
    const [here, there] = [first, second].map((stack) => ({
      client: stack.client(client.token),
      database: databaseOf(stack.app),
    })) as [{ client: ApiClient; database: Database }, { client: ApiClient; database: Database }];
    const before = [here, there].map(({ database }) => database.listening);
    for (const one of [here, there, here, there]) expect(await whoami(one.client)).toBe(200);
    const { database } = first.db;
    await database.query('ALTER TABLE session DISABLE TRIGGER session_authority');
    await database.query(
      `UPDATE session SET revoked_at = now() WHERE user_id = (SELECT id FROM app_user WHERE name = 'unheard')`,
    );
    await database.query('ALTER TABLE session ENABLE TRIGGER session_authority');
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%-listen' AND datname = current_database()`,
    );
    await waitFor('the loss', () => [here, there].every((one, i) => one.database.listening !== before[i]));
    for (const one of [here, there]) expect(await whoami(one.client)).toBe(401);
    await waitFor('the next connection', () => [here, there].every((one) => one.database.listening !== 0));
    for (const one of [here, there]) expect(await whoami(one.client)).toBe(401);
  });
});
