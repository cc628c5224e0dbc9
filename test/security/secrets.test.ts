import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../support/api-client';
import { ManagementStack, passwordOf } from './management-stack';

jest.setTimeout(120_000);

interface Operation {
  method: string;
  path: string;
  secret: boolean;
}
interface Document {
  paths: Record<string, Record<string, { 'x-secret'?: boolean }>>;
}

describe('secrets', () => {
  let stack: ManagementStack;
  let user: ApiClient;
  let instanceId: string;
  const given = new Set<string>();

  beforeAll(async () => {
    stack = await ManagementStack.start();
    given.add(stack.adminPassword);
    const project = await stack.admin.ok('POST', '/projects', { name: 'p' });
    user = await stack.user('keeper', { p: 'project-admin' });
    given.add(passwordOf('keeper'));
    instanceId = randomUUID();
    await stack.db.database.query(
      `INSERT INTO instance (id, project_id, name, hostname, description, flavor_id, flavor_name, vcpus, memory_bytes, disk_bytes, image_id, image_name, architecture, nics, ssh_keys, user_data, stop_grace_seconds, host_id, vmm, state, power, created_by, machine)
       VALUES ($1, $2, 'vm', 'vm', '', $1, 'tiny', 1, 1, 1, $1, 'image', 'x86_64', '[]', '[]', '', 30, $1, 'qemu', 'running', 'on', 'test', '{"vsock": true}')`,
      [instanceId, project.id],
    );
  });
  afterAll(() => stack?.close());

  /** Every string of an answer that is nobody's name or id. */
  const strings = (value: unknown): string[] =>
    typeof value === 'string'
      ? [value]
      : typeof value === 'object' && value !== null
        ? Object.values(value).flatMap(strings)
        : [];

  /** How each operation whose answer holds a secret is called. One that is not here fails the test. */
  const calls = (): Record<
    string,
    (headers: Record<string, string>) => Promise<{ status: number; body: unknown }>
  > => ({
    'POST /login': (h) => stack.client().call('POST', '/login', { name: 'keeper', password: passwordOf('keeper') }, h),
    'POST /login/refresh': async (h) => {
      const { body } = await stack.client().call('POST', '/login', { name: 'keeper', password: passwordOf('keeper') });
      given.add(body.refreshToken);
      return stack.client().call('POST', '/login/refresh', { refreshToken: body.refreshToken }, h);
    },
    'POST /api-tokens': (h) => user.call('POST', '/api-tokens', { name: `t-${h['idempotency-key'] ?? ''}` }, h),
    'POST /host-tokens': (h) => stack.admin.call('POST', '/host-tokens', {}, h),
    'POST /instances/{ref}/actions/console': (h) =>
      user.call('POST', `/instances/${instanceId}/actions/console`, undefined, h),
    'POST /instances/{ref}/actions/vsock': (h) =>
      user.call('POST', `/instances/${instanceId}/actions/vsock`, { port: 22 }, h),
  });

  it('are in no table in clear, whether given or made, with or without an Idempotency-Key', async () => {
    const { body } = await stack.client().unchecked<Document>('GET', '/openapi.json');
    const operations: Operation[] = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, o]) => ({
        method: method.toUpperCase(),
        path,
        secret: o['x-secret'] === true,
      })),
    );
    const secret = operations.filter((o) => o.secret).map((o) => `${o.method} ${o.path}`);
    expect(secret.sort()).toEqual(Object.keys(calls()).sort());
    for (const [name, call] of Object.entries(calls())) {
      for (const key of ['first', 'first', 'second']) {
        const answer = await call({ 'idempotency-key': `${key}-${name.replaceAll(/[^a-z]/gi, '')}` });
        expect([name, answer.status < 300]).toEqual([name, true]);
        for (const text of strings(answer.body))
          if (text.length >= 24 && !/^[0-9a-f-]{36}$/.test(text) && !/^\d{4}-/.test(text)) given.add(text);
      }
    }
    for (const [path, change, headers] of [
      ['/users', { name: 'another', password: 'a password of another' }, { 'idempotency-key': 'u1' }],
      [
        '/users/me/password',
        { current: passwordOf('keeper'), password: 'a later password' },
        { 'idempotency-key': 'u2' },
      ],
    ] as const) {
      expect((await (path === '/users' ? stack.admin : user).call('POST', path, change, headers)).status).toBeLessThan(
        300,
      );
      for (const text of strings(change)) if (text.includes(' ')) given.add(text);
    }
    expect(
      (await stack.admin.call('PATCH', '/users/another', { password: 'a reset password' }, { 'idempotency-key': 'u3' }))
        .status,
    ).toBe(200);
    given.add('a reset password');
    expect(given.size).toBeGreaterThan(15);
    expect(await found(given)).toEqual([]);
  });

  it('are looked for where they would be: what is no secret is found', async () => {
    await stack.admin.ok('POST', '/projects', { name: 'a name to be found', description: 'a text to be found' });
    expect(await found(new Set(['a name to be found', 'a text to be found']))).toEqual(
      expect.arrayContaining(['project: a name to be found', 'outbox: a text to be found']),
    );
  });

  /** Tables that have one of the texts, as text or bytes, whole or without the prefix of a token. */
  const found = async (texts: ReadonlySet<string>): Promise<string[]> => {
    const { database } = stack.db;
    const tables = await database.query<{ name: string }>(
      `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`,
    );
    const parts = [...texts].flatMap((text) => [
      text,
      ...(/^[a-z]+_[0-9a-f-]{36}_(.{20,})$/.exec(text)?.slice(1) ?? []),
      ...(/ticket=(.+)$/.exec(text)?.slice(1) ?? []),
    ]);
    const hits: string[] = [];
    for (const { name } of tables) {
      const rows = await database.query<{ part: string }>(
        `SELECT DISTINCT part FROM ${name} AS t, unnest($1::text[]) AS part
         WHERE position(part IN to_jsonb(t)::text) > 0 OR position(encode(convert_to(part, 'UTF8'), 'hex') IN to_jsonb(t)::text) > 0`,
        [parts],
      );
      hits.push(...rows.map(({ part }) => `${name}: ${part}`));
    }
    return hits;
  };
});
