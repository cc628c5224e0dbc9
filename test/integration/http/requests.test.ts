import { request as httpsRequest } from 'node:https';
import { projectA, projectB } from '../../support/http';
import { as, code, errors, ThingServer } from './thing-server';

jest.setTimeout(60_000);

let server: ThingServer;
beforeAll(async () => {
  server = await ThingServer.start();
});
afterAll(() => server?.stop());
beforeEach(() => {
  server.things.fail = undefined;
});

describe('answers', () => {
  it('gives the handler parsed values and sends only what the contract names', async () => {
    const res = await server.post({ name: 'first' });
    expect([res.status, res.body]).toEqual([201, { id: expect.any(String), name: 'first' }]);
    expect(res.headers['cache-control']).toBe('no-store');
    expect(res.headers['content-security-policy']).toContain("default-src 'none'");
    expect(res.headers['x-powered-by']).toBeUndefined();
  });

  it('takes status and headers from a reply, and an optional body may be absent', async () => {
    const res = await server.agent.post('/api/v1/open');
    expect([res.status, res.headers['x-made'], res.body]).toEqual([202, 'yes', { via: 'true' }]);
    expect((await server.agent.delete('/api/v1/things/1').set(as('alice'))).status).toBe(204);
  });

  it('echoes a harmless request id and replaces any other', async () => {
    expect((await server.agent.get('/health').set('x-request-id', 'abc-1.2_3')).headers['x-request-id']).toBe(
      'abc-1.2_3',
    );
    expect((await server.agent.get('/health').set('x-request-id', 'a b<script>')).headers['x-request-id']).toMatch(
      /^[0-9a-f-]{36}$/,
    );
  });

  it('says that it keeps an idle connection for longer than clients and proxies do', async () => {
    const answer = await server.rawRequest(
      'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\nGET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
    );
    expect(answer.match(/^keep-alive: timeout=(\d+)/im)?.[1]).toBe('75');
  });

  it('streams a raw body without transaction', async () => {
    const res = await server.agent
      .put('/api/v1/upload')
      .set(as('admin'))
      .set('content-type', 'application/octet-stream')
      .send(Buffer.alloc(300_000));
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
    [
      'a bad id deep inside',
      { name: 'x', networks: [{ id: 'nope' }] },
      422,
      [{ path: 'body.networks.0.id', code: 'invalid_format' }],
    ],
    [
      'both kinds',
      { name: 'x'.repeat(64), size: 'a' },
      400,
      [
        { path: 'body.name', code: 'too_long' },
        { path: 'body.size', code: 'invalid_type' },
      ],
    ],
  ])('refuses %s', async (_, body, status, expected) => {
    const before = server.things.calls;
    const res = await server.post(body);
    expect([res.status, code(res)]).toEqual([status, status === 400 ? 'invalid_request' : 'unacceptable']);
    expect(res.headers['content-type']).toContain('application/problem+json');
    expect(res.body).toMatchObject({
      status,
      title: expect.any(String),
      type: expect.any(String),
      detail: expect.any(String),
      instance: '/api/v1/things',
      requestId: res.headers['x-request-id'],
    });
    expect(errors(res)).toEqual(expected.map((e) => expect.objectContaining(e)));
    expect(server.things.calls).toBe(before);
  });

  it.each([
    '{"name":"x","__proto__":{"size":1}}',
    '{"name":"x","tags":{"__proto__":"y"}}',
    '{"name":"x","networks":[{"__proto__":{}}]}',
  ])('refuses __proto__ keys: %s', async (text) => {
    const res = await server.agent.post('/api/v1/things').set(as('alice')).type('json').send(text);
    expect([res.status, code(res), errors(res)[0]?.code]).toEqual([400, 'invalid_request', 'unknown_key']);
    expect(errors(res)[0]?.path).toContain('__proto__');
    expect(({} as { size?: number }).size).toBeUndefined();
  });

  it('refuses malformed, deep, oversized and mistyped bodies', async () => {
    const raw = (text: string, type = 'application/json') =>
      server.agent.post('/api/v1/things').set(as('alice')).set('content-type', type).send(text);
    const outcomes = await Promise.all([
      raw('{"name":'),
      raw('nonsense'),
      raw('['.repeat(20_000) + ']'.repeat(20_000)),
      raw(`{"name":"${'x'.repeat(70_000)}"}`),
      raw('name=x', 'application/x-www-form-urlencoded'),
      raw('{}', 'text/plain'),
      server.agent.post('/api/v1/things').set(as('alice')).set('content-encoding', 'zip').type('json').send('{}'),
    ]);
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
    const get = (path: string) => server.agent.get(`/api/v1${path}`).set(as('alice'));
    const outcomes = await Promise.all([
      get('/things?limt=5'),
      get('/things?limit=5&limit=6'),
      get('/things?limit=x'),
      get('/things?limit=501'),
      get('/things?__proto__=1'),
      get('/things/x?a=1'),
      get('/things?project=a&project=b'),
      get('/things?project=%00'),
      server.agent.post('/api/v1/me').set(as('alice')).send({ a: 1 }),
    ]);
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
    expect((await server.agent.post('/api/v1/me').set(as('alice')).send({})).status).toBe(200);
  });

  it('takes null for an absent member, also in lists and unions, and not for a required one', async () => {
    expect(
      (await server.post({ name: 'nulls', size: null, networks: null, choice: null, tags: { a: 'b' } })).status,
    ).toBe(201);
    const refused = await server.post({ name: null, size: null });
    expect([refused.status, errors(refused)]).toEqual([
      400,
      [expect.objectContaining({ path: 'body.name', code: 'required' })],
    ]);
    expect(errors(await server.post({ name: 'x', networks: [null] }))).toEqual([
      expect.objectContaining({ path: 'body.networks.0' }),
    ]);
    expect(errors(await server.post({ name: 'x', networks: [{ id: null }] }))).toEqual([
      expect.objectContaining({ path: 'body.networks.0.id', code: 'required' }),
    ]);
  });

  it('binds cursors to the list, its filters, order and project, and takes digits for integers', async () => {
    const get = (path: string, who = 'both') => server.agent.get(`/api/v1${path}`).set(as(who));
    const cursor = async (path: string): Promise<string> =>
      encodeURIComponent(((await get(path)).body as { next: string }).next);
    const own = await cursor('/pages?limit=1');
    expect((await get(`/pages?limit=7&cursor=${own}`)).body).toMatchObject({ items: [{ id: 'place', name: '7' }] });
    const strange = [
      `/other-pages?cursor=${own}`,
      `/pages?sort=b&cursor=${own}`,
      `/pages?project=alpha&cursor=${own}`,
      `/pages?cursor=${own}x`,
      '/pages?cursor=place',
      `/pages?cursor=.place`,
      `/pages?cursor=${await cursor('/pages?project=beta')}`,
    ];
    for (const path of strange) expect([path, code(await get(path))]).toEqual([path, 'invalid_cursor']);
    for (const limit of ['1e2', '0x10', '+5', '%205', '5.0', '', '-1'])
      expect([limit, (await get(`/pages?limit=${limit}`)).status]).toEqual([limit, 400]);
    expect((await get('/pages?limit=0')).status).toBe(422);
  });

  it('refuses characters in names that turn the direction of text or are not seen', async () => {
    for (const char of ['\u202e', '\u2066', '\u200f', '\u200b', '\ufeff', '\u061c']) {
      const refused = await server.post({ name: `a${char}b` });
      expect([refused.status, errors(refused)[0]?.code]).toEqual([422, 'control_characters']);
    }
    expect((await server.post({ name: 'سرور‌ها 👩‍💻' })).status).toBe(201);
  });

  it('answers unknown paths, methods and encodings', async () => {
    const paths = ['/api/v1/nope', '/nope', '/api/v1/things/', '/api/v1/things/%E0%A4%A', '//evil/%2F..', '/\\evil'];
    const outcomes = await Promise.all(
      paths.map(
        (p) =>
          new Promise<number>((resolve, reject) => {
            const url = new URL(server.http.address);
            httpsRequest(
              { host: url.hostname, port: url.port, path: p, ca: server.tls.cert, headers: as('alice') },
              (res) => {
                res.resume();
                resolve(res.statusCode ?? 0);
              },
            )
              .on('error', reject)
              .end();
          }),
      ),
    );
    expect(outcomes).toEqual([404, 404, 404, 400, 400, 400]);
    const wrong = await server.agent.put('/api/v1/things').set(as('alice')).send({});
    expect([wrong.status, code(wrong), wrong.headers['allow']]).toEqual([405, 'method_not_allowed', 'GET, HEAD, POST']);
    expect((await server.agent.options('/api/v1/things/x')).headers['allow']).toBe('DELETE, GET, HEAD, PATCH');
  });

  it('hides what failed unexpectedly, and logs it', async () => {
    for (const path of ['/broken', '/off-contract']) {
      const res = await server.agent.get(`/api/v1${path}`).set('x-request-id', `id${path.slice(1)}`);
      expect([res.status, code(res)]).toEqual([500, 'internal_error']);
      expect(JSON.stringify(res.body)).not.toMatch(/secret|breaks|Error:/);
      expect(
        server.core.logs.find((l) => l['requestId'] === `id${path.slice(1)}` && l['level'] === 'error'),
      ).toMatchObject({ err: { stack: expect.any(String) } });
    }
  });

  it('maps what the database refuses', async () => {
    expect((await server.post({ name: 'twice' })).status).toBe(201);
    const taken = await server.post({ name: 'twice' });
    expect([taken.status, code(taken)]).toEqual([409, 'name_taken']);
    expect(JSON.stringify(taken.body)).not.toContain('thing_name');
    server.things.fail = () => Object.assign(new Error('x'), { driverError: { code: '22021', severity: 'ERROR' } });
    expect((await server.post({ name: 'never' })).status).toBe(422);
    expect(await server.rows('never')).toBe(0);
  });

  it('runs a transaction again once after a serialization failure', async () => {
    let left = 1;
    const lost = () => Object.assign(new Error('lost'), { driverError: { code: '40001', severity: 'ERROR' } });
    server.things.fail = () => (left-- > 0 ? lost() : (undefined as unknown as Error));
    expect((await server.post({ name: 'retried' })).status).toBe(201);
    expect(await server.rows('retried')).toBe(1);
    server.things.fail = lost;
    const busy = await server.post({ name: 'busy' });
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
    const res = await (authorization === undefined
      ? server.agent.get('/api/v1/me')
      : server.agent.get('/api/v1/me').set('authorization', authorization));
    expect([res.status, code(res), res.headers['www-authenticate']]).toEqual([401, 'unauthenticated', 'Bearer']);
  });

  it('answers 431 to headers beyond what Node parses, and 400 to a NUL byte in one: such a request never reaches the application', async () => {
    const large = await server.rawRequest(
      `GET /api/v1/me HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${'x'.repeat(1_048_576)}\r\n\r\n`,
    );
    expect(large).toMatch(/^HTTP\/1.1 431 /);
    expect(large).toContain('"code":"headers_too_large"');
    const nul = await server.rawRequest(
      'GET /api/v1/me HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer a\0b\r\n\r\n',
    );
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
    const res = await server.agent[method.toLowerCase() as 'get' | 'post' | 'delete'](`/api/v1${path}`).set(as(who));
    expect(res.status).toBe(status);
  });

  it('runs project routes in one project that the caller may use', async () => {
    const outcome = async (who: string, project?: string) => {
      const res = await server.agent
        .post(`/api/v1/things${project ? `?project=${project}` : ''}`)
        .set(as(who))
        .send({ name: `${who} ${project ?? ''} ${server.things.calls}`.trim() });
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
      const res = await server.agent.get(`/api/v1/things${query}`).set(as(who));
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
    expect((await server.post({ nonsense: 1 }, 'viewer')).status).toBe(403);
    expect((await server.agent.post('/api/v1/things').type('json').send('{')).status).toBe(401);
  });
});
