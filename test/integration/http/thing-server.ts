import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { brotliCompressSync } from 'node:zlib';
import supertest from 'supertest';
import { z } from 'zod';
import { Database } from '../../../src/core/db/database';
import { Problem } from '../../../src/core/errors/problem';
import { ConsoleAssets } from '../../../src/core/http/server/console-assets';
import * as field from '../../../src/core/http/routes/fields';
import { HttpServer } from '../../../src/core/http/server/http-server';
import { targetOf } from '../../../src/core/http/server/request-target';
import { pageOf, pageQuery } from '../../../src/core/http/routes/pagination';
import { Controller, reply, route, type Route } from '../../../src/core/http/routes/route';
import { SocketRoutes, type SocketRoute } from '../../../src/core/http/sockets/socket-route';
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

/** Routes of every scope, each to see one behaviour. */
class ThingController extends Controller {
  fail: (() => Error) | undefined;
  calls = 0;

  constructor(private readonly database: Database) {
    super();
  }

  override routes(): Route[] {
    const base = { tag: 'things' } as const;
    return [
      route(
        {
          ...base,
          method: 'POST',
          path: '/things',
          summary: 'Create',
          scope: 'project',
          permission: 'instance:create',
          body: createThing,
          status: 201,
          response: thing,
        },
        async (req) => {
          this.calls += 1;
          await this.database.query(
            'INSERT INTO thing (name, project_id) VALUES ($1, $2)',
            [req.body.name, req.project?.id],
            req.op,
          );
          const fault = this.fail?.();
          if (fault) throw fault;
          return { id: String(this.calls), name: req.body.name, internal: 'never sent' };
        },
      ),
      route(
        {
          ...base,
          method: 'GET',
          path: '/things',
          summary: 'List',
          scope: 'collection',
          permission: 'instance:read',
          query: pageQuery,
          response: pageOf(thing),
        },
        async (req) => ({
          items:
            req.access.projects === 'all'
              ? [{ id: 'all', name: 'all' }]
              : req.access.projects.map((id) => ({ id, name: String(req.query.limit) })),
          next: null,
        }),
      ),
      route(
        {
          ...base,
          method: 'GET',
          path: '/things/:id',
          summary: 'Show',
          scope: 'resource',
          permission: 'instance:read',
          params: z.strictObject({ id: field.ref }),
          response: thing,
        },
        async (req) => {
          req.access.assert(req.params.id === 'of-b' ? projectB.id : projectA.id, 'thing', req.params.id);
          return { id: req.params.id, name: 'x' };
        },
      ),
      route(
        {
          ...base,
          method: 'GET',
          path: '/things/special',
          summary: 'Special',
          scope: 'global',
          permission: 'host:read',
          response: thing,
        },
        async () => ({ id: 'special', name: 'fixed' }),
      ),
      route(
        {
          ...base,
          method: 'DELETE',
          path: '/things/:id',
          summary: 'Delete',
          scope: 'resource',
          permission: 'instance:delete',
          params: z.strictObject({ id: field.ref }),
          status: 204,
          response: z.null(),
        },
        async (req) => {
          req.access.assert(projectA.id, 'thing', req.params.id);
        },
      ),
      route(
        {
          ...base,
          method: 'PATCH',
          path: '/things/:id',
          summary: 'Change',
          scope: 'resource',
          permission: 'instance:update',
          params: z.strictObject({ id: field.ref }),
          body: z.strictObject({ note: z.string().optional() }),
          response: thing,
        },
        async (req) => {
          this.calls += 1;
          if (req.params.id !== 'unasked') req.access.assert(projectA.id, 'thing', req.params.id);
          return { id: req.params.id, name: req.body.note ?? 'none' };
        },
      ),
      route(
        {
          ...base,
          method: 'POST',
          path: '/keys',
          summary: 'A secret',
          scope: 'self',
          permission: 'api-token:create',
          reason: 'a test',
          body: z.strictObject({ password: z.string() }),
          status: 201,
          secretResponse: true,
          response: z.object({ secret: z.string() }),
        },
        async (req) => ({
          secret: `the-secret-${(this.calls += 1)}${req.body.password.length > 1_000 ? req.body.password : ''}`,
        }),
      ),
      route(
        {
          ...base,
          method: 'GET',
          path: '/pages',
          summary: 'Pages',
          scope: 'collection',
          permission: 'instance:read',
          query: pageQuery.extend({ sort: z.enum(['a', 'b']).default('a') }),
          response: pageOf(thing),
        },
        async (req) => ({
          items: [{ id: req.query.cursor ?? 'first', name: String(req.query.limit) }],
          next: 'place',
        }),
      ),
      route(
        {
          ...base,
          method: 'GET',
          path: '/other-pages',
          summary: 'Other pages',
          scope: 'collection',
          permission: 'instance:read',
          query: pageQuery,
          response: pageOf(thing),
        },
        async () => ({ items: [], next: 'place' }),
      ),
      route(
        {
          ...base,
          method: 'GET',
          path: '/me',
          summary: 'Me',
          scope: 'self',
          reason: 'own name',
          response: z.object({ name: z.string() }),
        },
        async (req) => ({ name: req.principal.name }),
      ),
      route(
        {
          ...base,
          method: 'POST',
          path: '/me',
          summary: 'Change me',
          scope: 'self',
          reason: 'own name',
          response: z.object({}),
        },
        async () => ({}),
      ),
      route(
        {
          ...base,
          method: 'POST',
          path: '/open',
          summary: 'Open',
          scope: 'public',
          reason: 'a test',
          body: z.strictObject({ a: z.string().optional() }).prefault({}),
          status: [200, 202],
          response: z.object({ via: z.string() }),
        },
        async (req) => reply({ via: String(req.op.inTransaction) }, { status: 202, headers: { 'x-made': 'yes' } }),
      ),
      route(
        {
          ...base,
          method: 'GET',
          path: '/broken',
          summary: 'Broken',
          scope: 'public',
          reason: 'a test',
          response: thing,
        },
        async () => {
          throw new Error('secret internals');
        },
      ),
      route(
        {
          ...base,
          method: 'GET',
          path: '/off-contract',
          summary: 'Off contract',
          scope: 'public',
          reason: 'a test',
          response: thing,
        },
        async () => ({ id: 5 }) as unknown as { id: string; name: string },
      ),
      route(
        {
          ...base,
          method: 'PUT',
          path: '/upload',
          summary: 'Upload',
          scope: 'global',
          permission: 'image:create',
          rawBody: true,
          response: z.object({ bytes: z.number(), tx: z.boolean() }),
        },
        async (req) => {
          let bytes = 0;
          for await (const chunk of req.raw) bytes += (chunk as Buffer).length;
          return { bytes, tx: req.op.inTransaction };
        },
      ),
    ];
  }
}

class EchoSockets extends SocketRoutes {
  override socketRoutes(): SocketRoute[] {
    const echo: SocketRoute<string> = {
      path: '/echo/:id',
      admit: async (req, query) => {
        const ticket = query.get('ticket');
        if (ticket === 'boom') throw new Error('secret internals');
        if (ticket !== 'good')
          throw new Problem({ status: 401, code: 'bad_ticket', detail: 'The ticket is not valid.' });
        return {
          claim: { kind: 'echo', credential: { via: 'session', id: 'session-alice', userId: 'alice' } },
          target: targetOf(req).path,
        };
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

export const as = (token: string) => ({ authorization: `Bearer ${token}` });
export const code = (res: { body: unknown }): unknown => (res.body as { code?: unknown }).code;
export const errors = (res: { body: unknown }): { path: string; code: string }[] =>
  (res.body as { errors: { path: string; code: string }[] }).errors;

/** The HTTP server with routes, sockets and console files of a test, on a database of its own. */
export class ThingServer {
  private constructor(
    readonly db: TestDatabase,
    readonly core: CoreForTest,
    readonly http: HttpServer,
    readonly things: ThingController,
    readonly tls: ReturnType<typeof testTls>,
    readonly agent: ReturnType<typeof supertest>,
    private readonly assets: string,
  ) {}

  static async start(): Promise<ThingServer> {
    const db = await startTestDatabase();
    await db.database.query(
      'CREATE TABLE thing (id serial PRIMARY KEY, name text NOT NULL, project_id uuid, CONSTRAINT thing_name UNIQUE (name))',
    );
    const core = coreContainer(db.database);
    const assets = new TestAssets();
    mkdirSync(join(assets.directory, 'assets'));
    writeFileSync(join(assets.directory, 'index.html'), '<!doctype html><title>console</title>');
    writeFileSync(join(assets.directory, 'assets/app-1a2b.js'), 'let plain = 1;');
    writeFileSync(join(assets.directory, 'assets/app-1a2b.js.br'), brotliCompressSync('let plain = 1;'));
    (await core.container.rebind(ConsoleAssets)).toConstantValue(assets);
    const http = core.container.get(HttpServer);
    const things = new ThingController(db.database);
    http.mount([things], [new EchoSockets()]);
    const tls = testTls();
    await http.start(tls);
    const agent = supertest.agent(http.address, { ca: tls.cert }) as unknown as ReturnType<typeof supertest>;
    return new ThingServer(db, core, http, things, tls, agent, assets.directory);
  }

  async stop(): Promise<void> {
    await this.http.stop();
    await this.db.close();
    rmSync(this.assets, { recursive: true });
  }

  /** How many things of that name are stored. */
  async rows(name: string): Promise<number> {
    return Number(
      (await this.db.database.query<{ n: string }>('SELECT count(*) AS n FROM thing WHERE name = $1', [name]))[0]?.n,
    );
  }

  post(body: object, token = 'alice'): supertest.Test {
    return this.agent.post('/api/v1/things').set(as(token)).send(body);
  }

  /** Sends the text as it is and gives all that comes until the server closes. */
  rawRequest(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const url = new URL(this.http.address);
      let answer = '';
      const socket = connect(
        { host: url.hostname, port: Number(url.port), ca: this.tls.cert, servername: 'localhost' },
        () => socket.write(text),
      );
      socket.on('data', (d: Buffer) => (answer += d.toString()));
      socket.on('close', () => resolve(answer));
      socket.on('error', (e) => (answer ? resolve(answer) : reject(e)));
    });
  }
}
