import { createHash } from 'node:crypto';
import { request as httpsRequest } from 'node:https';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { brotliCompressSync } from 'node:zlib';
import supertest from 'supertest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { Database } from '../../../src/core/db/database';
import { Problem } from '../../../src/core/errors/problem';
import { ConsoleAssets } from '../../../src/core/http/console-assets';
import * as field from '../../../src/core/http/fields';
import { HealthChecks, type HealthStatus } from '../../../src/core/http/health-checks';
import { HttpServer } from '../../../src/core/http/http-server';
import { IdempotencyRepository } from '../../../src/core/http/idempotency.repository';
import { SecretLimiter } from '../../../src/core/http/secret-limiter';
import { pageOf, pageQuery } from '../../../src/core/http/pagination';
import { Controller, reply, route, type Route } from '../../../src/core/http/route';
import { SocketRoutes, type SocketRoute } from '../../../src/core/http/socket-route';
import { coreContainer, projectA, projectB, testTls, type CoreForTest } from '../../support/http';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';

const thing = z.object({ id: z.string(), name: z.string() });
const createThing = z.strictObject({
  name: field.displayName,
  size: z.number().int().min(1).max(10).optional(),
  networks: z.array(z.strictObject({ id: field.id })).optional(),
  tags: z.record(z.string(), z.string()).optional(),
  choice: z.union([z.string(), z.number()]).optional(),
});

class ThingController extends Controller {
  fail: (() => Error) | undefined;
  calls = 0;

  constructor(private readonly database: Database) {
    super();
  }

  override routes(): Route[] {
    const base = { tag: 'things' } as const;
    return [
      route({ ...base, method: 'POST', path: '/things', summary: 'Create', scope: 'project', permission: 'instance:create', body: createThing, status: 201, response: thing }, async (req) => {
        this.calls += 1;
        await this.database.query('INSERT INTO thing (name, project_id) VALUES ($1, $2)', [req.body.name, req.project?.id], req.op);
        const fault = this.fail?.();
        if (fault) throw fault;
        return { id: String(this.calls), name: req.body.name, internal: 'never sent' };
      }),
      route({ ...base, method: 'GET', path: '/things', summary: 'List', scope: 'collection', permission: 'instance:read', query: pageQuery, response: pageOf(thing) }, async (req) => ({
        items: req.access.projects === 'all' ? [{ id: 'all', name: 'all' }] : req.access.projects.map((id) => ({ id, name: String(req.query.limit) })),
        next: null,
      })),
      route({ ...base, method: 'GET', path: '/things/:id', summary: 'Show', scope: 'resource', permission: 'instance:read', params: z.strictObject({ id: field.ref }), response: thing }, async (req) => {
        req.access.assert(req.params.id === 'of-b' ? projectB.id : projectA.id, 'thing', req.params.id);
        return { id: req.params.id, name: 'x' };
      }),
      route({ ...base, method: 'GET', path: '/things/special', summary: 'Special', scope: 'global', permission: 'host:read', response: thing }, async () => ({ id: 'special', name: 'fixed' })),
      route({ ...base, method: 'DELETE', path: '/things/:id', summary: 'Delete', scope: 'resource', permission: 'instance:delete', params: z.strictObject({ id: field.ref }), status: 204, response: z.null() }, async (req) => {
        req.access.assert(projectA.id, 'thing', req.params.id);
      }),
      route({ ...base, method: 'PATCH', path: '/things/:id', summary: 'Change', scope: 'resource', permission: 'instance:update', params: z.strictObject({ id: field.ref }), body: z.strictObject({ note: z.string().optional() }), response: thing }, async (req) => {
        this.calls += 1;
        if (req.params.id !== 'unasked') req.access.assert(projectA.id, 'thing', req.params.id);
        return { id: req.params.id, name: req.body.note ?? 'none' };
      }),
      route({ ...base, method: 'POST', path: '/keys', summary: 'A secret', scope: 'self', permission: 'api-token:create', reason: 'a test', body: z.strictObject({ password: z.string() }), status: 201, secretResponse: true, response: z.object({ secret: z.string() }) }, async (req) => ({
        secret: `the-secret-${(this.calls += 1)}${req.body.password.length > 1_000 ? req.body.password : ''}`,
      })),
      route({ ...base, method: 'GET', path: '/pages', summary: 'Pages', scope: 'collection', permission: 'instance:read', query: pageQuery.extend({ sort: z.enum(['a', 'b']).default('a') }), response: pageOf(thing) }, async (req) => ({
        items: [{ id: req.query.cursor ?? 'first', name: String(req.query.limit) }],
        next: 'place',
      })),
      route({ ...base, method: 'GET', path: '/other-pages', summary: 'Other pages', scope: 'collection', permission: 'instance:read', query: pageQuery, response: pageOf(thing) }, async () => ({ items: [], next: 'place' })),
      route({ ...base, method: 'GET', path: '/me', summary: 'Me', scope: 'self', reason: 'own name', response: z.object({ name: z.string() }) }, async (req) => ({ name: req.principal.name })),
      route({ ...base, method: 'POST', path: '/me', summary: 'Change me', scope: 'self', reason: 'own name', response: z.object({}) }, async () => ({})),
      route({ ...base, method: 'POST', path: '/open', summary: 'Open', scope: 'public', reason: 'a test', body: z.strictObject({ a: z.string().optional() }).prefault({}), status: [200, 202], response: z.object({ via: z.string() }) }, async (req) =>
        reply({ via: String(req.op.inTransaction) }, { status: 202, headers: { 'x-made': 'yes' } }),
      ),
      route({ ...base, method: 'GET', path: '/broken', summary: 'Broken', scope: 'public', reason: 'a test', response: thing }, async () => {
        throw new Error('secret internals');
      }),
      route({ ...base, method: 'GET', path: '/off-contract', summary: 'Off contract', scope: 'public', reason: 'a test', response: thing }, async () => ({ id: 5 }) as unknown as { id: string; name: string }),
      route({ ...base, method: 'PUT', path: '/upload', summary: 'Upload', scope: 'global', permission: 'image:create', rawBody: true, response: z.object({ bytes: z.number(), tx: z.boolean() }) }, async (req) => {
        let bytes = 0;
        for await (const chunk of req.raw) bytes += (chunk as Buffer).length;
        return { bytes, tx: req.op.inTransaction };
      }),
    ];
  }
}

class EchoSockets extends SocketRoutes {
  override socketRoutes(): SocketRoute[] {
    const echo: SocketRoute<string> = {
      path: '/echo/:id',
      admit: async (_req, url) => {
        const ticket = url.searchParams.get('ticket');
        if (ticket === 'boom') throw new Error('secret internals');
        if (ticket !== 'good') throw new Problem({ status: 401, code: 'bad_ticket', detail: 'The ticket is not valid.' });
        return { claim: { kind: 'echo', credential: { via: 'session', id: 'session-alice', userId: 'alice' } }, target: url.pathname };
      },
      open: async (socket, admitted) => {
        socket.on('message', (data) => socket.send(`${admitted}:${String(data as Buffer)}`));
      },
    };
    return [echo as SocketRoute];
  }
}

class TestAssets extends ConsoleAssets {
  override readonly directory = mkdtempSync(join(tmpdir(), 'vc-console-'));
}

jest.setTimeout(60_000);

describe('HttpServer', () => {
  let db: TestDatabase;
  let core: CoreForTest;
  let http: HttpServer;
  let things: ThingController;
  let agent: ReturnType<typeof supertest>;
  const assets = new TestAssets();
  const tls = testTls();

  beforeAll(async () => {
    db = await startTestDatabase();
    await db.database.query('CREATE TABLE thing (id serial PRIMARY KEY, name text NOT NULL, project_id uuid, CONSTRAINT thing_name UNIQUE (name))');
    core = coreContainer(db.database);
    mkdirSync(join(assets.directory, 'assets'));
    writeFileSync(join(assets.directory, 'index.html'), '<!doctype html><title>console</title>');
    writeFileSync(join(assets.directory, 'assets/app-1a2b.js'), 'let plain = 1;');
    writeFileSync(join(assets.directory, 'assets/app-1a2b.js.br'), brotliCompressSync('let plain = 1;'));
    (await core.container.rebind(ConsoleAssets)).toConstantValue(assets);
    http = core.container.get(HttpServer);
    things = new ThingController(db.database);
    http.mount([things], [new EchoSockets()]);
    await http.start(tls);
    agent = supertest.agent(http.address, { ca: tls.cert }) as unknown as ReturnType<typeof supertest>;
  });
  afterAll(async () => {
    await http?.stop();
    await db?.close();
    rmSync(assets.directory, { recursive: true });
  });
  beforeEach(() => {
    things.fail = undefined;
  });

  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  const rows = async (name: string): Promise<number> => Number((await db.database.query<{ n: string }>('SELECT count(*) AS n FROM thing WHERE name = $1', [name]))[0]?.n);
  const post = (body: object, token = 'alice') => agent.post('/api/v1/things').set(as(token)).send(body);
  const code = (res: { body: unknown }): unknown => (res.body as { code?: unknown }).code;
  const errors = (res: { body: unknown }): { path: string; code: string }[] => (res.body as { errors: { path: string; code: string }[] }).errors;

  const rawRequest = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const url = new URL(http.address);
      let answer = '';
      const socket = connect({ host: url.hostname, port: Number(url.port), ca: tls.cert, servername: 'localhost' }, () => socket.write(text));
      socket.on('data', (d: Buffer) => (answer += d.toString()));
      socket.on('close', () => resolve(answer));
      socket.on('error', (e) => (answer ? resolve(answer) : reject(e)));
    });

  describe('answers', () => {
    it('gives the handler parsed values and sends only what the contract names', async () => {
      const res = await post({ name: 'first' });
      expect([res.status, res.body]).toEqual([201, { id: expect.any(String), name: 'first' }]);
      expect(res.headers['cache-control']).toBe('no-store');
      expect(res.headers['content-security-policy']).toContain("default-src 'none'");
      expect(res.headers['x-powered-by']).toBeUndefined();
    });

    it('takes status and headers from a reply, and an optional body may be absent', async () => {
      const res = await agent.post('/api/v1/open');
      expect([res.status, res.headers['x-made'], res.body]).toEqual([202, 'yes', { via: 'true' }]);
      expect((await agent.delete('/api/v1/things/1').set(as('alice'))).status).toBe(204);
    });

    it('echoes a harmless request id and replaces any other', async () => {
      expect((await agent.get('/health').set('x-request-id', 'abc-1.2_3')).headers['x-request-id']).toBe('abc-1.2_3');
      expect((await agent.get('/health').set('x-request-id', 'a b<script>')).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    });

    it('says that it keeps an idle connection for longer than clients and proxies do', async () => {
      const answer = await rawRequest('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\nGET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
      expect(answer.match(/^keep-alive: timeout=(\d+)/im)?.[1]).toBe('75');
    });

    it('streams a raw body without transaction', async () => {
      const res = await agent.put('/api/v1/upload').set(as('admin')).set('content-type', 'application/octet-stream').send(Buffer.alloc(300_000));
      expect(res.body).toEqual({ bytes: 300_000, tx: false });
    });
  });

  describe('bad input', () => {
    it.each<[string, object, number, { path: string; code: string }[]]>([
      ['an unknown key', { name: 'x', nmae: 1 }, 400, [{ path: 'body.nmae', code: 'unknown_key' }]],
      ['a wrong type', { name: 5 }, 400, [{ path: 'body.name', code: 'invalid_type' }]],
      ['a missing key', {}, 400, [{ path: 'body.name', code: 'required' }]],
      ['a wrong union', { name: 'x', choice: {} }, 400, [{ path: 'body.choice', code: 'invalid_union' }]],
      ['an array for an object', [], 400, [{ path: 'body', code: 'invalid_type' }]],
      ['a long name', { name: 'x'.repeat(64) }, 422, [{ path: 'body.name', code: 'too_long' }]],
      ['control characters', { name: 'a\u0000b' }, 422, [{ path: 'body.name', code: 'control_characters' }]],
      ['a name like an id', { name: projectA.id }, 422, [{ path: 'body.name', code: 'looks_like_id' }]],
      ['a number out of range', { name: 'x', size: 11 }, 422, [{ path: 'body.size', code: 'too_big' }]],
      ['a bad id deep inside', { name: 'x', networks: [{ id: 'nope' }] }, 422, [{ path: 'body.networks.0.id', code: 'invalid_format' }]],
      ['both kinds', { name: 'x'.repeat(64), size: 'a' }, 400, [{ path: 'body.name', code: 'too_long' }, { path: 'body.size', code: 'invalid_type' }]],
    ])('refuses %s', async (_, body, status, expected) => {
      const before = things.calls;
      const res = await post(body);
      expect([res.status, code(res)]).toEqual([status, status === 400 ? 'invalid_request' : 'unacceptable']);
      expect(res.headers['content-type']).toContain('application/problem+json');
      expect(res.body).toMatchObject({ status, title: expect.any(String), type: expect.any(String), detail: expect.any(String), instance: '/api/v1/things', requestId: res.headers['x-request-id'] });
      expect(errors(res)).toEqual(expected.map((e) => expect.objectContaining(e)));
      expect(things.calls).toBe(before);
    });

    it.each(['{"name":"x","__proto__":{"size":1}}', '{"name":"x","tags":{"__proto__":"y"}}', '{"name":"x","networks":[{"__proto__":{}}]}'])('refuses __proto__ keys: %s', async (text) => {
      const res = await agent.post('/api/v1/things').set(as('alice')).type('json').send(text);
      expect([res.status, code(res), errors(res)[0]?.code]).toEqual([400, 'invalid_request', 'unknown_key']);
      expect(errors(res)[0]?.path).toContain('__proto__');
      expect(({} as { size?: number }).size).toBeUndefined();
    });

    it('refuses malformed, deep, oversized and mistyped bodies', async () => {
      const raw = (text: string, type = 'application/json') => agent.post('/api/v1/things').set(as('alice')).set('content-type', type).send(text);
      const outcomes = await Promise.all([raw('{"name":'), raw('nonsense'), raw('['.repeat(20_000) + ']'.repeat(20_000)), raw(`{"name":"${'x'.repeat(70_000)}"}`), raw('name=x', 'application/x-www-form-urlencoded'), raw('{}', 'text/plain'), agent.post('/api/v1/things').set(as('alice')).set('content-encoding', 'zip').type('json').send('{}')]);
      expect(outcomes.map((r) => [r.status, code(r)])).toEqual([
        [400, 'malformed_json'],
        [400, 'malformed_json'],
        [400, 'invalid_request'],
        [413, 'body_too_large'],
        [415, 'unsupported_media_type'],
        [415, 'unsupported_media_type'],
        [415, 'unsupported_media_type'],
      ]);
    });

    it('refuses unknown, repeated and wrong query members, and a body where there is none', async () => {
      const get = (path: string) => agent.get(`/api/v1${path}`).set(as('alice'));
      const outcomes = await Promise.all([get('/things?limt=5'), get('/things?limit=5&limit=6'), get('/things?limit=x'), get('/things?limit=501'), get('/things?__proto__=1'), get('/things/x?a=1'), get('/things?project=a&project=b'), get('/things?project=%00'), agent.post('/api/v1/me').set(as('alice')).send({ a: 1 })]);
      expect(outcomes.map((r) => [r.status, errors(r)[0]?.path])).toEqual([
        [400, 'query.limt'],
        [400, 'query.limit'],
        [400, 'query.limit'],
        [422, 'query.limit'],
        [400, 'query.__proto__'],
        [400, 'query.a'],
        [400, 'query.project'],
        [422, 'query.project'],
        [400, 'body.a'],
      ]);
      expect((await agent.post('/api/v1/me').set(as('alice')).send({})).status).toBe(200);
    });

    it('takes null for an absent member, also in lists and unions, and not for a required one', async () => {
      expect((await post({ name: 'nulls', size: null, networks: null, choice: null, tags: { a: 'b' } })).status).toBe(201);
      const refused = await post({ name: null, size: null });
      expect([refused.status, errors(refused)]).toEqual([400, [expect.objectContaining({ path: 'body.name', code: 'required' })]]);
      expect(errors(await post({ name: 'x', networks: [null] }))).toEqual([expect.objectContaining({ path: 'body.networks.0' })]);
      expect(errors(await post({ name: 'x', networks: [{ id: null }] }))).toEqual([expect.objectContaining({ path: 'body.networks.0.id', code: 'required' })]);
    });

    it('binds cursors to the list, its filters, order and project, and takes digits for integers', async () => {
      const get = (path: string, who = 'both') => agent.get(`/api/v1${path}`).set(as(who));
      const cursor = async (path: string): Promise<string> => encodeURIComponent(((await get(path)).body as { next: string }).next);
      const own = await cursor('/pages?limit=1');
      expect((await get(`/pages?limit=7&cursor=${own}`)).body).toMatchObject({ items: [{ id: 'place', name: '7' }] });
      const strange = [`/other-pages?cursor=${own}`, `/pages?sort=b&cursor=${own}`, `/pages?project=alpha&cursor=${own}`, `/pages?cursor=${own}x`, '/pages?cursor=place', `/pages?cursor=.place`, `/pages?cursor=${await cursor('/pages?project=beta')}`];
      for (const path of strange) expect([path, code(await get(path))]).toEqual([path, 'invalid_cursor']);
      for (const limit of ['1e2', '0x10', '+5', '%205', '5.0', '', '-1']) expect([limit, (await get(`/pages?limit=${limit}`)).status]).toEqual([limit, 400]);
      expect((await get('/pages?limit=0')).status).toBe(422);
    });

    it('refuses characters in names that turn the direction of text or are not seen', async () => {
      for (const char of ['\u202e', '\u2066', '\u200f', '\u200b', '\ufeff', '\u061c']) {
        const refused = await post({ name: `a${char}b` });
        expect([refused.status, errors(refused)[0]?.code]).toEqual([422, 'control_characters']);
      }
      expect((await post({ name: 'سرور‌ها 👩‍💻' })).status).toBe(201);
    });

    it('answers unknown paths, methods and encodings', async () => {
      const paths = ['/api/v1/nope', '/nope', '/api/v1/things/', '/api/v1/things/%E0%A4%A', '//evil/%2F..', '/\\evil'];
      const outcomes = await Promise.all(paths.map((p) => new Promise<number>((resolve, reject) => {
        const url = new URL(http.address);
        httpsRequest({ host: url.hostname, port: url.port, path: p, ca: tls.cert, headers: as('alice') }, (res) => { res.resume(); resolve(res.statusCode ?? 0); }).on('error', reject).end();
      })));
      expect(outcomes).toEqual([404, 404, 404, 400, 400, 400]);
      const wrong = await agent.put('/api/v1/things').set(as('alice')).send({});
      expect([wrong.status, code(wrong), wrong.headers['allow']]).toEqual([405, 'method_not_allowed', 'GET, HEAD, POST']);
      expect((await agent.options('/api/v1/things/x')).headers['allow']).toBe('DELETE, GET, HEAD, PATCH');
    });

    it('hides what failed unexpectedly, and logs it', async () => {
      for (const path of ['/broken', '/off-contract']) {
        const res = await agent.get(`/api/v1${path}`).set('x-request-id', `id${path.slice(1)}`);
        expect([res.status, code(res)]).toEqual([500, 'internal_error']);
        expect(JSON.stringify(res.body)).not.toMatch(/secret|breaks|Error:/);
        expect(core.logs.find((l) => l['requestId'] === `id${path.slice(1)}` && l['level'] === 'error')).toMatchObject({ err: { stack: expect.any(String) } });
      }
    });

    it('maps what the database refuses', async () => {
      expect((await post({ name: 'twice' })).status).toBe(201);
      const taken = await post({ name: 'twice' });
      expect([taken.status, code(taken)]).toEqual([409, 'name_taken']);
      expect(JSON.stringify(taken.body)).not.toContain('thing_name');
      things.fail = () => Object.assign(new Error('x'), { driverError: { code: '22021', severity: 'ERROR' } });
      expect((await post({ name: 'never' })).status).toBe(422);
      expect(await rows('never')).toBe(0);
    });

    it('runs a transaction again once after a serialization failure', async () => {
      let left = 1;
      const lost = () => Object.assign(new Error('lost'), { driverError: { code: '40001', severity: 'ERROR' } });
      things.fail = () => (left-- > 0 ? lost() : (undefined as unknown as Error));
      expect((await post({ name: 'retried' })).status).toBe(201);
      expect(await rows('retried')).toBe(1);
      things.fail = lost;
      const busy = await post({ name: 'busy' });
      expect([busy.status, code(busy), busy.headers['retry-after']]).toEqual([503, 'busy', '1']);
    });
  });

  describe('identity and permission', () => {
    it.each([
      ['no header', undefined],
      ['an empty token', 'Bearer '],
      ['a malformed token', 'Bearer test'],
      ['another scheme', 'Basic YTpi'],
      ['an escaped NUL', 'Bearer a%00b'],
      ['a long token', `Bearer ${'x'.repeat(10_000)}`],
      ['a name of Object', 'Bearer constructor'],
    ])('answers 401 to %s', async (_, authorization) => {
      const res = await (authorization === undefined ? agent.get('/api/v1/me') : agent.get('/api/v1/me').set('authorization', authorization));
      expect([res.status, code(res), res.headers['www-authenticate']]).toEqual([401, 'unauthenticated', 'Bearer']);
    });

    it('answers 431 to headers beyond what Node parses, and 400 to a NUL byte in one: such a request never reaches the application', async () => {
      const large = await rawRequest(`GET /api/v1/me HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${'x'.repeat(1_048_576)}\r\n\r\n`);
      expect(large).toMatch(/^HTTP\/1.1 431 /);
      expect(large).toContain('"code":"headers_too_large"');
      const nul = await rawRequest('GET /api/v1/me HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer a\0b\r\n\r\n');
      expect(nul).toMatch(/^HTTP\/1.1 400 /);
      expect(nul).toContain('"code":"malformed_request"');
    });

    it.each<[string, string, string, number]>([
      ['GET', '/things/special', 'admin', 200],
      ['GET', '/things/special', 'alice', 403],
      ['GET', '/things/of-a', 'viewer', 200],
      ['GET', '/things/of-b', 'alice', 404],
      ['GET', '/things/of-b', 'both', 200],
      ['GET', '/things/of-a', 'limited', 403],
      ['DELETE', '/things/x', 'alice', 204],
      ['GET', '/me', 'limited', 200],
      ['POST', '/me', 'limited', 403],
      ['POST', '/me', 'alice', 200],
    ])('%s %s as %s: %i', async (method, path, who, status) => {
      const res = await agent[method.toLowerCase() as 'get' | 'post' | 'delete'](`/api/v1${path}`).set(as(who));
      expect(res.status).toBe(status);
    });

    it('runs project routes in one project that the caller may use', async () => {
      const outcome = async (who: string, project?: string) => {
        const res = await agent.post(`/api/v1/things${project ? `?project=${project}` : ''}`).set(as(who)).send({ name: `${who} ${project ?? ''} ${things.calls}`.trim() });
        return [res.status, code(res)];
      };
      expect(await outcome('alice', 'alpha')).toEqual([201, undefined]);
      expect(await outcome('alice', 'beta')).toEqual([404, 'not_found']);
      expect(await outcome('both')).toEqual([400, 'project_required']);
      expect(await outcome('both', projectA.id)).toEqual([201, undefined]);
      expect(await outcome('both', 'beta')).toEqual([403, 'forbidden']);
      expect(await outcome('viewer')).toEqual([403, 'forbidden']);
      expect(await outcome('limited')).toEqual([403, 'forbidden']);
      expect(await outcome('admin', 'beta')).toEqual([201, undefined]);
      expect(await outcome('nobody', 'beta')).toEqual([404, 'not_found']);
    });

    it('narrows collections to what the caller may read', async () => {
      const list = async (who: string, query = '') => {
        const res = await agent.get(`/api/v1/things${query}`).set(as(who));
        return [res.status, (res.body as { items?: { id: string }[] }).items?.map((i) => i.id)];
      };
      expect(await list('nobody')).toEqual([200, []]);
      expect(await list('limited')).toEqual([403, undefined]);
      expect(await list('both')).toEqual([200, [projectA.id, projectB.id]]);
      expect(await list('both', '?project=beta')).toEqual([200, [projectB.id]]);
      expect(await list('alice', '?project=beta')).toEqual([404, undefined]);
      expect(await list('admin')).toEqual([200, ['all']]);
      expect(await list('admin', '?project=beta')).toEqual([200, [projectB.id]]);
    });

    it('checks permission before it looks at the body', async () => {
      expect((await post({ nonsense: 1 }, 'viewer')).status).toBe(403);
      expect((await agent.post('/api/v1/things').type('json').send('{')).status).toBe(401);
    });
  });

  describe('Idempotency-Key', () => {
    const keyed = (key: string, body: object, token = 'alice', path = '/things') => agent.post(`/api/v1${path}`).set(as(token)).set('idempotency-key', key).send(body);

    it('lets 50 equal parallel requests make one row and get one answer', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => keyed('fifty', { name: 'fifty', size: 2 })));
      expect(new Set(answers.map((a) => `${a.status} ${a.text}`)).size).toBe(1);
      expect(answers[0]?.status).toBe(201);
      expect(answers.filter((a) => a.headers['idempotency-replayed'] === 'true')).toHaveLength(49);
      expect(await rows('fifty')).toBe(1);
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
      const other = await agent.post('/api/v1/things?project=alpha').set(as('both')).set('idempotency-key', 'shared').send({ name: 'by both' });
      expect([other.status, other.headers['idempotency-replayed']]).toEqual([201, undefined]);
    });

    it('keeps nothing of a request that failed', async () => {
      things.fail = () => new Error('down');
      expect((await keyed('failing', { name: 'failing' })).status).toBe(500);
      things.fail = () => new Problem({ status: 409, code: 'later', detail: 'Later.' });
      expect((await keyed('failing', { name: 'failing' })).status).toBe(409);
      expect(await rows('failing')).toBe(0);
      things.fail = undefined;
      const done = await keyed('failing', { name: 'failing' });
      expect([done.status, done.headers['idempotency-replayed']]).toEqual([201, undefined]);
    });

    it('asks for the permission before it gives an answer again', async () => {
      const patch = (key: string, path = '/things/one') => agent.patch(`/api/v1${path}`).set(as('alice')).set('idempotency-key', key).send({ note: 'seen' });
      const alice = core.authenticator.tokens.get('alice');
      if (!alice) throw new Error('there is no alice');
      expect((await patch('kept')).status).toBe(200);
      expect([(await patch('kept')).headers['idempotency-replayed'], things.calls]).toEqual(['true', things.calls]);
      for (const [memberships, status] of [[[], 404], [[{ projectId: projectA.id, role: 'viewer' as const }], 403], [[{ projectId: projectB.id, role: 'member' as const }], 404]] as const) {
        core.authenticator.tokens.set('alice', { ...alice, memberships: [...memberships] });
        const refused = await patch('kept');
        expect([refused.status, JSON.stringify(refused.body).includes('seen')]).toEqual([status, false]);
      }
      core.authenticator.tokens.set('alice', alice);
      expect((await patch('kept')).status).toBe(200);
      const unasked = await patch('unasked', '/things/unasked');
      expect([unasked.status, code(unasked)]).toEqual([500, 'internal_error']);
      expect(await db.database.query(`SELECT 1 FROM idempotency_key WHERE key = 'unasked'`)).toEqual([]);
    });

    it('keeps no secret in clear, neither of the answer nor of the request, and gives it again', async () => {
      const ask = () => keyed('secret', { password: 'hunter2' }, 'alice', '/keys');
      const first = await ask();
      const again = await ask();
      expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
      const [row] = await db.database.query<{ text: string; hash: Buffer }>(`SELECT idempotency_key::text AS text, request_hash AS hash FROM idempotency_key WHERE key = 'secret'`);
      expect(row?.text).not.toContain((first.body as { secret: string }).secret);
      expect(row?.hash.equals(createHash('sha256').update('{"password":"hunter2"}').digest())).toBe(false);
    });

    it('refuses a malformed key and forgets after a day', async () => {
      expect(code(await keyed('a b', { name: 'spaced' }))).toBe('invalid_idempotency_key');
      expect(code(await keyed('k'.repeat(256), { name: 'long' }))).toBe('invalid_idempotency_key');
      await keyed('old', { name: 'old' });
      await db.database.query(`UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key = 'old'`);
      await core.container.get(IdempotencyRepository).prune();
      expect(await db.database.query(`SELECT 1 FROM idempotency_key WHERE key = 'old'`)).toEqual([]);
      expect((await db.database.query(`SELECT 1 FROM idempotency_key WHERE key = 'order'`)).length).toBe(1);
    });
  });

  describe('operations', () => {
    it('describes itself as OpenAPI 3.1', async () => {
      const res = await agent.get('/api/v1/openapi.json');
      const document = res.body as { openapi: string; paths: Record<string, Record<string, { security: object[]; parameters?: { name: string }[]; requestBody?: { content: Record<string, { schema: { properties: object } }> } }>> };
      expect(document.openapi).toBe('3.1.0');
      expect(document.paths['/things/{id}']?.['get']?.security).toEqual([{ bearer: [] }]);
      expect(document.paths['/open']?.['post']?.security).toEqual([]);
      expect(document.paths['/things']?.['post']?.parameters?.map((p) => p.name).sort()).toEqual(['Idempotency-Key', 'project']);
      expect(Object.keys(document.paths['/things']?.['post']?.requestBody?.content['application/json']?.schema.properties ?? {})).toContain('networks');
    });

    it('has an API page without anything from elsewhere', async () => {
      const res = await agent.get('/api/docs');
      expect(res.text).toContain('/things/{id}');
      expect(res.text).not.toMatch(/(src|href)="(https?:)?\/\/|<script/);
      expect((await agent.get('/api/docs/style.css')).headers['content-type']).toContain('text/css');
    });

    it('reports its health', async () => {
      expect((await agent.get('/health')).body).toEqual({ status: 'healthy', instance: expect.stringMatching(/^[0-9a-f-]{36}$/), build: expect.any(String) });
      let state: HealthStatus = 'degraded';
      const checks = core.container.get(HealthChecks);
      checks.add('disk', async () => ({ status: state, message: 'nearly full' }));
      expect((await agent.get('/health/deep')).body).toEqual({ status: 'degraded', checks: { database: { status: 'healthy' }, disk: { status: 'degraded', message: 'nearly full' } } });
      state = 'unhealthy';
      checks.add('disk', async () => ({ status: state }));
      expect((await agent.get('/health/deep')).status).toBe(503);
    });

    it('counts requests by route, not by path', async () => {
      await agent.get('/api/v1/things/some-name').set(as('alice'));
      const { text } = await agent.get('/metrics');
      expect(text).toMatch(/http_request_duration_seconds_count\{route="\/things\/:id",method="GET",status="200"\}/);
      expect(text).toContain('process_cpu_seconds_total');
      expect(text).not.toContain('some-name');
    });

    it('compresses answers of some size, but none with a secret, and none that is compressed already', async () => {
      const encoding = async (path: string, accepted = 'gzip, br'): Promise<unknown> => (await agent.get(path).set('accept-encoding', accepted)).headers['content-encoding'];
      expect([await encoding('/api/v1/openapi.json'), await encoding('/api/v1/openapi.json', 'gzip'), await encoding('/api/v1/openapi.json', 'identity'), await encoding('/metrics')]).toEqual(['br', 'gzip', undefined, 'br']);
      expect(await encoding('/health')).toBeUndefined();
      expect(await encoding('/console/assets/app-1a2b.js')).toBe('br');
      const long = await agent.patch('/api/v1/things/long').set(as('alice')).set('accept-encoding', 'gzip').send({ note: 'x'.repeat(5_000) });
      expect([long.headers['content-encoding'], (long.body as { name: string }).name.length]).toEqual(['gzip', 5_000]);
      const secret = await agent.post('/api/v1/keys').set(as('alice')).set('accept-encoding', 'gzip').send({ password: 'x'.repeat(5_000) });
      expect([secret.status, secret.headers['content-encoding'], secret.headers['cache-control']]).toEqual([201, undefined, 'no-store, no-transform']);
    });

    it('answers 304 to a browser that has a file already', async () => {
      const first = await agent.get('/console/assets/app-1a2b.js');
      expect([(await agent.get('/console/assets/app-1a2b.js').set('if-none-match', String(first.headers['etag']))).status, first.headers['cache-control']]).toEqual([304, 'public, max-age=31536000, immutable']);
    });

    it('serves the console', async () => {
      expect((await agent.get('/')).headers['location']).toBe('/console/');
      expect((await agent.get('/console')).headers['location']).toBe('/console/');
      const page = await agent.get('/console/instances/42');
      expect([page.status, page.headers['cache-control']]).toEqual([200, 'no-cache']);
      expect(page.text).toContain('<title>console');
      const script = await agent.get('/console/assets/app-1a2b.js').set('accept-encoding', 'br');
      expect([script.headers['content-encoding'], script.headers['content-type'], script.headers['cache-control'], script.text]).toEqual(['br', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable', 'let plain = 1;']);
      const plain = await agent.get('/console/assets/app-1a2b.js').set('accept-encoding', 'identity');
      expect([plain.headers['content-encoding'], plain.text]).toEqual([undefined, 'let plain = 1;']);
      expect((await agent.get('/console/assets/none.js')).status).toBe(404);
      expect((await agent.get('/console/..%2f..%2fetc%2fpasswd')).status).toBeGreaterThanOrEqual(400);
    });
  });

  describe('sockets', () => {
    const open = (path: string, headers: Record<string, string> = {}): Promise<{ socket?: WebSocket; status?: number; body?: string }> =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`${http.address.replace('https', 'wss')}/api/v1${path}`, { ca: tls.cert, headers });
        socket.on('open', () => resolve({ socket }));
        socket.on('unexpected-response', (_req, res) => {
          let body = '';
          res.on('data', (d: Buffer) => (body += d.toString()));
          res.on('end', () => resolve({ status: res.statusCode ?? 0, body }));
        });
        socket.on('error', reject);
      });

    it('opens after admission and carries messages', async () => {
      const { socket } = await open('/echo/7?ticket=good', { origin: http.address });
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
    const limiter = core.container.get(SecretLimiter);
    const tries = async (address: string, name: string, n: number) => {
      let refused = 0;
      for (let i = 0; i < n; i++) await limiter.attempt(address, name).catch((e: unknown) => { refused += e instanceof Problem && e.status === 429 ? 1 : 100; });
      return refused;
    };
    expect(await tries('10.0.0.1', 'root', 12)).toBe(2);
    expect(await tries('10.0.0.2', 'root', 5)).toBe(0);
    await limiter.succeeded('10.0.0.2', 'root');
    expect(await tries('10.0.0.2', 'ROOT', 10)).toBe(0);
    expect(await tries('2001:db8::1', 'a', 10)).toBe(0);
    expect(await tries('2001:db8:0:0:1::2', 'a', 1)).toBe(1);
  });
});
