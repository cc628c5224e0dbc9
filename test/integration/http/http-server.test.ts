import { createHash } from 'node:crypto';
import { WebSocket } from 'ws';
import { Problem } from '../../../src/core/errors/problem';
import { HealthChecks, type HealthStatus } from '../../../src/core/http/server/health-checks';
import { IdempotencyRepository } from '../../../src/core/http/routes/idempotency.repository';
import { SecretLimiter } from '../../../src/core/http/secret-limiter';
import { projectA, projectB } from '../../support/http';
import { as, code, ThingServer } from './thing-server';

jest.setTimeout(60_000);

let server: ThingServer;
beforeAll(async () => {
  server = await ThingServer.start();
});
afterAll(() => server?.stop());
beforeEach(() => {
  server.things.fail = undefined;
});

describe('Idempotency-Key', () => {
  const keyed = (key: string, body: object, token = 'alice', path = '/things') =>
    server.agent.post(`/api/v1${path}`).set(as(token)).set('idempotency-key', key).send(body);

  it('lets 50 equal parallel requests make one row and get one answer', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => keyed('fifty', { name: 'fifty', size: 2 })));
    expect(new Set(answers.map((a) => `${a.status} ${a.text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(answers.filter((a) => a.headers['idempotency-replayed'] === 'true')).toHaveLength(49);
    expect(await server.rows('fifty')).toBe(1);
  });

  it('takes members in any order for the same request, and refuses another one', async () => {
    const first = await keyed('order', { name: 'order', size: 2 });
    const second = await keyed('order', { size: 2, name: 'order' });
    expect([second.status, second.text]).toEqual([201, first.text]);
    const other = await keyed('order', { name: 'order', size: 3 });
    expect([other.status, code(other)]).toEqual([422, 'idempotency_key_reused']);
    const elsewhere = await keyed('order', {}, 'alice', '/me');
    expect([elsewhere.status, code(elsewhere)]).toEqual([422, 'idempotency_key_reused']);
  });

  it('belongs to its caller', async () => {
    expect((await keyed('shared', { name: 'by alice' })).status).toBe(201);
    const other = await server.agent
      .post('/api/v1/things?project=alpha')
      .set(as('both'))
      .set('idempotency-key', 'shared')
      .send({ name: 'by both' });
    expect([other.status, other.headers['idempotency-replayed']]).toEqual([201, undefined]);
  });

  it('keeps nothing of a request that failed', async () => {
    server.things.fail = () => new Error('down');
    expect((await keyed('failing', { name: 'failing' })).status).toBe(500);
    server.things.fail = () => new Problem({ status: 409, code: 'later', detail: 'Later.' });
    expect((await keyed('failing', { name: 'failing' })).status).toBe(409);
    expect(await server.rows('failing')).toBe(0);
    server.things.fail = undefined;
    const done = await keyed('failing', { name: 'failing' });
    expect([done.status, done.headers['idempotency-replayed']]).toEqual([201, undefined]);
  });

  it('asks for the permission before it gives an answer again', async () => {
    const patch = (key: string, path = '/things/one') =>
      server.agent.patch(`/api/v1${path}`).set(as('alice')).set('idempotency-key', key).send({ note: 'seen' });
    const alice = server.core.authenticator.tokens.get('alice');
    if (!alice) throw new Error('there is no alice');
    expect((await patch('kept')).status).toBe(200);
    expect([(await patch('kept')).headers['idempotency-replayed'], server.things.calls]).toEqual([
      'true',
      server.things.calls,
    ]);
    for (const [memberships, status] of [
      [[], 404],
      [[{ projectId: projectA.id, role: 'viewer' as const }], 403],
      [[{ projectId: projectB.id, role: 'member' as const }], 404],
    ] as const) {
      server.core.authenticator.tokens.set('alice', { ...alice, memberships: [...memberships] });
      const refused = await patch('kept');
      expect([refused.status, JSON.stringify(refused.body).includes('seen')]).toEqual([status, false]);
    }
    server.core.authenticator.tokens.set('alice', alice);
    expect((await patch('kept')).status).toBe(200);
    const unasked = await patch('unasked', '/things/unasked');
    expect([unasked.status, code(unasked)]).toEqual([500, 'internal_error']);
    expect(await server.db.database.query(`SELECT 1 FROM idempotency_key WHERE key = 'unasked'`)).toEqual([]);
  });

  it('keeps no secret in clear, neither of the answer nor of the request, and gives it again', async () => {
    const ask = () => keyed('secret', { password: 'hunter2' }, 'alice', '/keys');
    const first = await ask();
    const again = await ask();
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
    const [row] = await server.db.database.query<{ text: string; hash: Buffer }>(
      `SELECT idempotency_key::text AS text, request_hash AS hash FROM idempotency_key WHERE key = 'secret'`,
    );
    expect(row?.text).not.toContain((first.body as { secret: string }).secret);
    expect(row?.hash.equals(createHash('sha256').update('{"password":"hunter2"}').digest())).toBe(false);
  });

  it('refuses a malformed key and forgets after a day', async () => {
    expect(code(await keyed('a b', { name: 'spaced' }))).toBe('invalid_idempotency_key');
    expect(code(await keyed('k'.repeat(256), { name: 'long' }))).toBe('invalid_idempotency_key');
    await keyed('old', { name: 'old' });
    await server.db.database.query(
      `UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key = 'old'`,
    );
    await server.core.container.get(IdempotencyRepository).prune();
    expect(await server.db.database.query(`SELECT 1 FROM idempotency_key WHERE key = 'old'`)).toEqual([]);
    expect((await server.db.database.query(`SELECT 1 FROM idempotency_key WHERE key = 'order'`)).length).toBe(1);
  });
});

describe('operations', () => {
  it('describes itself as OpenAPI 3.1', async () => {
    const res = await server.agent.get('/api/v1/openapi.json');
    const document = res.body as {
      openapi: string;
      paths: Record<
        string,
        Record<
          string,
          {
            security: object[];
            parameters?: { name: string }[];
            requestBody?: { content: Record<string, { schema: { properties: object } }> };
          }
        >
      >;
    };
    expect(document.openapi).toBe('3.1.0');
    expect(document.paths['/things/{id}']?.['get']?.security).toEqual([{ bearer: [] }]);
    expect(document.paths['/open']?.['post']?.security).toEqual([]);
    expect(document.paths['/things']?.['post']?.parameters?.map((p) => p.name).sort()).toEqual([
      'Idempotency-Key',
      'project',
    ]);
    expect(
      Object.keys(
        document.paths['/things']?.['post']?.requestBody?.content['application/json']?.schema.properties ?? {},
      ),
    ).toContain('networks');
  });

  it('has an API page without anything from elsewhere', async () => {
    const res = await server.agent.get('/api/docs');
    expect(res.text).toContain('/things/{id}');
    expect(res.text).not.toMatch(/(src|href)="(https?:)?\/\/|<script/);
    expect((await server.agent.get('/api/docs/style.css')).headers['content-type']).toContain('text/css');
  });

  it('reports its health', async () => {
    expect((await server.agent.get('/health')).body).toEqual({
      status: 'healthy',
      instance: expect.stringMatching(/^[0-9a-f-]{36}$/),
      build: expect.any(String),
    });
    let state: HealthStatus = 'degraded';
    const checks = server.core.container.get(HealthChecks);
    checks.add('disk', async () => ({ status: state, message: 'nearly full' }));
    expect((await server.agent.get('/health/deep')).body).toEqual({
      status: 'degraded',
      checks: { database: { status: 'healthy' }, disk: { status: 'degraded', message: 'nearly full' } },
    });
    state = 'unhealthy';
    checks.add('disk', async () => ({ status: state }));
    expect((await server.agent.get('/health/deep')).status).toBe(503);
  });

  it('counts requests by route, not by path', async () => {
    await server.agent.get('/api/v1/things/some-name').set(as('alice'));
    const { text } = await server.agent.get('/metrics');
    expect(text).toMatch(/http_request_duration_seconds_count\{route="\/things\/:id",method="GET",status="200"\}/);
    expect(text).toContain('process_cpu_seconds_total');
    expect(text).not.toContain('some-name');
  });

  it('compresses answers of some size, but none with a secret, and none that is compressed already', async () => {
    const encoding = async (path: string, accepted = 'gzip, br'): Promise<unknown> =>
      (await server.agent.get(path).set('accept-encoding', accepted)).headers['content-encoding'];
    expect([
      await encoding('/api/v1/openapi.json'),
      await encoding('/api/v1/openapi.json', 'gzip'),
      await encoding('/api/v1/openapi.json', 'identity'),
      await encoding('/metrics'),
    ]).toEqual(['br', 'gzip', undefined, 'br']);
    expect(await encoding('/health')).toBeUndefined();
    expect(await encoding('/console/assets/app-1a2b.js')).toBe('br');
    const long = await server.agent
      .patch('/api/v1/things/long')
      .set(as('alice'))
      .set('accept-encoding', 'gzip')
      .send({ note: 'x'.repeat(5_000) });
    expect([long.headers['content-encoding'], (long.body as { name: string }).name.length]).toEqual(['gzip', 5_000]);
    const secret = await server.agent
      .post('/api/v1/keys')
      .set(as('alice'))
      .set('accept-encoding', 'gzip')
      .send({ password: 'x'.repeat(5_000) });
    expect([secret.status, secret.headers['content-encoding'], secret.headers['cache-control']]).toEqual([
      201,
      undefined,
      'no-store, no-transform',
    ]);
  });

  it('says the length of what it does not compress, that others may get it compressed, and no body to HEAD', async () => {
    const told = async (method: 'get' | 'head', path: string): Promise<unknown[]> => {
      const { status, headers, text } = await server.agent[method](path).set(as('alice'));
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      return [
        status,
        headers['vary'],
        headers['transfer-encoding'] ?? Number(headers['content-length']),
        text?.length ?? 0,
      ];
    };
    const body = JSON.stringify({ id: 'one', name: 'x' }).length;
    expect(await told('get', '/api/v1/things/one')).toEqual([200, 'Accept-Encoding', body, body]);
    const head = await told('head', '/api/v1/things/one');
    expect([head[0], head[1], head[3]]).toEqual([200, 'Accept-Encoding', 0]);
    expect((await told('get', '/api/v1/nothing')).slice(0, 2)).toEqual([404, 'Accept-Encoding']);
    expect((await told('get', '/api/v1/things/')).slice(0, 2)).toEqual([404, 'Accept-Encoding']);
  });

  it('answers 304 to a browser that has a file already', async () => {
    const first = await server.agent.get('/console/assets/app-1a2b.js');
    expect([
      (await server.agent.get('/console/assets/app-1a2b.js').set('if-none-match', String(first.headers['etag'])))
        .status,
      first.headers['cache-control'],
    ]).toEqual([304, 'public, max-age=31536000, immutable']);
  });

  it('serves the console', async () => {
    expect((await server.agent.get('/')).headers['location']).toBe('/console/');
    expect((await server.agent.get('/console')).headers['location']).toBe('/console/');
    const page = await server.agent.get('/console/instances/42');
    expect([page.status, page.headers['cache-control']]).toEqual([200, 'no-cache']);
    expect(page.text).toContain('<title>console');
    const script = await server.agent.get('/console/assets/app-1a2b.js').set('accept-encoding', 'br');
    expect([
      script.headers['content-encoding'],
      script.headers['content-type'],
      script.headers['cache-control'],
      script.text,
    ]).toEqual(['br', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable', 'let plain = 1;']);
    const plain = await server.agent.get('/console/assets/app-1a2b.js').set('accept-encoding', 'identity');
    expect([plain.headers['content-encoding'], plain.text]).toEqual([undefined, 'let plain = 1;']);
    expect((await server.agent.get('/console/assets/none.js')).status).toBe(404);
    expect((await server.agent.get('/console/..%2f..%2fetc%2fpasswd')).status).toBeGreaterThanOrEqual(400);
  });
});

describe('sockets', () => {
  const open = (
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ socket?: WebSocket; status?: number; body?: string }> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`${server.http.address.replace('https', 'wss')}/api/v1${path}`, {
        ca: server.tls.cert,
        headers,
      });
      socket.on('open', () => resolve({ socket }));
      socket.on('unexpected-response', (_req, res) => {
        let body = '';
        res.on('data', (d: Buffer) => (body += d.toString()));
        res.on('end', () => resolve({ status: res.statusCode ?? 0, body }));
      });
      socket.on('error', reject);
    });

  it('opens after admission and carries messages', async () => {
    const { socket } = await open('/echo/7?ticket=good', { origin: server.http.address });
    const answer = new Promise<string>((resolve) => socket?.on('message', (d: Buffer) => resolve(d.toString())));
    socket?.send('hi');
    expect(await answer).toBe('/api/v1/echo/7:hi');
    socket?.close();
  });

  it.each([
    ['/echo/7?ticket=bad', {}, 401, 'bad_ticket'],
    ['/echo/7?ticket=good', { origin: 'https://evil.example' }, 403, 'foreign_origin'],
    ['/none', {}, 404, 'not_found'],
    ['/echo/7?ticket=boom', {}, 500, 'internal_error'],
  ])('refuses %s %j', async (path, headers, status, expected) => {
    const res = await open(path, headers as Record<string, string>);
    expect([res.status, (JSON.parse(res.body ?? '{}') as { code: string }).code]).toEqual([status, expected]);
    expect(res.body).not.toContain('secret');
  });
});

it('bounds login attempts per address and name', async () => {
  const limiter = server.core.container.get(SecretLimiter);
  const tries = async (address: string, name: string, n: number) => {
    let refused = 0;
    for (let i = 0; i < n; i++)
      await limiter.attempt(address, name).catch((e: unknown) => {
        refused += e instanceof Problem && e.status === 429 ? 1 : 100;
      });
    return refused;
  };
  expect(await tries('10.0.0.1', 'root', 12)).toBe(2);
  expect(await tries('10.0.0.2', 'root', 5)).toBe(0);
  await limiter.succeeded('10.0.0.2', 'root');
  expect(await tries('10.0.0.2', 'ROOT', 10)).toBe(0);
  expect(await tries('2001:db8::1', 'a', 10)).toBe(0);
  expect(await tries('2001:db8:0:0:1::2', 'a', 1)).toBe(1);
});
