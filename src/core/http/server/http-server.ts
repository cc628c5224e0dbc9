import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { isIP, type AddressInfo, type Socket } from 'node:net';
import express, { type Express, type Request, type Response } from 'express';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { collectDefaultMetrics } from 'prom-client';
import { Channels } from '../../auth/channels/channels';
import { PermissionCatalogue } from '../../auth/permissions/permission-catalogue';
import { Config } from '../../config/config';
import { Database } from '../../db/database';
import { Problem } from '../../errors/problem';
import { Logging } from '../../telemetry/logging';
import { Metrics } from '../../telemetry/metrics';
import { apiDocsPage, apiDocsStyle } from '../openapi/api-docs-page';
import { ApiRouter } from './api-router';
import { ConsoleAssets } from './console-assets';
import { buildVersion } from '../../config/build-version';
import { compressed, compressing, endCompressed } from './compressed';
import { ConnectionGuard, endWithUnreadBody, guardedOptions } from './connection-guard';
import { lastAnswer, unparsedStatus } from './last-answer';
import { HealthChecks } from './health-checks';
import { openApiDocument, type OpenApiDocument } from '../openapi/openapi';
import { problemDocument, problemHeaders, sendProblem } from '../problems/problem-document';
import { problemOf } from '../problems/problem-mapping';
import { RequestObserver } from './request-observer';
import { targetOf } from './request-target';
import type { Controller, Route, Declared } from '../routes/route';
import { auditRoutes } from '../routes/route-audit';
import { RouteRunner } from '../routes/route-runner';
import { securityHeaders } from './security-headers';
import { SocketGateway } from '../sockets/socket-gateway';
import type { SocketRoutes } from '../sockets/socket-route';

/** PEM. The certificate comes with its chain. */
export interface TlsMaterial {
  key: string;
  cert: string;
}

const prefix = '/api/v1';
const jsonType = 'application/json; charset=utf-8';

/** REST, console, documentation, health, metrics and WebSockets on one TLS port (`management.port`). */
@injectable()
export class HttpServer {
  /** Of this process alone, for whoever must know that it is the one it started: told by `/health`. */
  readonly instance = randomUUID();
  /** For listeners of the same port (live events). There from the start; it listens after `start`. */
  readonly server: Server;
  private readonly app: Express = express();
  private readonly api = new ApiRouter(prefix);
  private readonly headers = securityHeaders();
  private readonly log: Logger;
  private routes: Route[] = [];
  private document: { openapi: OpenApiDocument; json: string; html: string } | undefined;
  private mounted = false;
  private readonly connections = new Set<Socket>();
  private readonly guard: ConnectionGuard;
  private readonly stopHooks: (() => void)[] = [];

  constructor(
    private readonly config: Config,
    logging: Logging,
    private readonly metrics: Metrics,
    private readonly database: Database,
    private readonly runner: RouteRunner,
    private readonly observer: RequestObserver,
    private readonly health: HealthChecks,
    private readonly assets: ConsoleAssets,
    private readonly sockets: SocketGateway,
    private readonly permissions: PermissionCatalogue,
    private readonly channels: Channels,
  ) {
    this.log = logging.for('http');
    const { limits } = this.config.core;
    // Uploads may take hours; headers and JSON bodies have deadlines of their own, and a silent connection ends.
    this.server = createServer(
      { ...guardedOptions(limits), minVersion: 'TLSv1.2', requestTimeout: 0 },
      (req, res) => void this.answer(req, res),
    );
    this.server.timeout = 180_000;
    this.guard = new ConnectionGuard(this.server, limits);
    this.server.prependListener('request', endWithUnreadBody);
    this.server.on('connection', (socket: Socket) => {
      this.connections.add(socket);
      socket.once('close', () => this.connections.delete(socket));
    });
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.refuseUnparsed(error, socket));
  }

  /**
   * Audits and mounts everything. Throws when a route has no permission or one that no module declares, or two are the
   * same. Call once, before `start`.
   */
  mount(
    controllers: readonly Controller[],
    sockets: readonly SocketRoutes[] = [],
    declared: Declared = { inventory: {} },
  ): void {
    if (this.mounted) throw new Error('the HTTP server is mounted already');
    this.mounted = true;
    this.routes = controllers.flatMap((c) => c.routes(declared));
    auditRoutes(this.routes, this.permissions);
    this.app.disable('x-powered-by').disable('etag').set('query parser', 'simple').set('case sensitive routing', true);
    this.app.use(compressed());
    for (const route of this.routes) this.api.add(route.spec, this.runner.handler(route));
    this.api.add({ method: 'GET', path: '/openapi.json' }, async ({ req, res }) => {
      res.setHeader('content-type', jsonType);
      endCompressed(req, res, this.documents().json);
    });
    this.mountOperations();
    this.app.get('/', (_req, res) => res.redirect(302, '/console/'));
    this.app.get('/console', (req, res, next) => (req.path === '/console' ? res.redirect(302, '/console/') : next()));
    this.app.use('/console', ...this.assets.handlers());
    this.app.use((req, _res, next) =>
      next(new Problem({ status: 404, code: 'not_found', detail: `There is nothing at ${req.path.slice(0, 200)}.` })),
    );
    this.sockets.mount(sockets);
    this.sockets.attach(this.server);
    this.health.add('database', async () => {
      await this.database.query('SELECT 1');
      return { status: 'healthy' };
    });
  }

  /** The OpenAPI document of what is mounted. */
  openApi(): OpenApiDocument {
    return this.documents().openapi;
  }

  /** Listens on `management.listen`:`management.port`. */
  async start(tls: TlsMaterial): Promise<void> {
    if (!this.mounted) throw new Error('mount the routes before the HTTP server starts');
    this.setTls(tls);
    collectDefaultMetrics({ register: this.metrics.registry });
    await this.channels.start();
    const { listen, port } = this.config.core.management;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, listen, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
    this.log.info({ url: this.address }, 'listening');
  }

  /** Takes a new certificate for connections made from now on. */
  setTls(tls: TlsMaterial): void {
    this.server.setSecureContext({ key: tls.key, cert: tls.cert, minVersion: 'TLSv1.2' });
  }

  /** Runs when the server is about to stop: whoever holds long answers (event streams, sockets) ends them here. */
  beforeStop(hook: () => void): void {
    this.stopHooks.push(hook);
  }

  /** Ends streams and sockets, and lets running requests end, for at most 5 s. */
  async stop(): Promise<void> {
    if (!this.server.listening) return;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    const channels = this.channels.stop();
    for (const hook of this.stopHooks) hook();
    this.sockets.close();
    this.server.closeIdleConnections();
    // Upgraded connections are no longer Node's HTTP connections, so the force is applied to every socket.
    const force = setTimeout(() => this.connections.forEach((socket) => socket.destroy()), 5_000);
    await closed;
    clearTimeout(force);
    await channels;
  }

  /** `https://<listen address>:<port>`, with loopback for the wildcard address. */
  get address(): string {
    const bound = this.server.address() as AddressInfo | null;
    if (!bound) throw new Error('the HTTP server does not listen');
    const host = bound.address === '0.0.0.0' || bound.address === '::' ? '127.0.0.1' : bound.address;
    return `https://${isIP(host) === 6 ? `[${host}]` : host}:${bound.port}`;
  }

  /**
   * The API has a way of its own: what Express does for every request takes longer than most answers. All else (console,
   * documentation, operations, what is nowhere) is Express's.
   */
  private async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const observed = this.observer.observe(req, res);
    for (const [name, value] of this.headers) res.setHeader(name, value);
    try {
      const target = targetOf(req);
      const inApi = target.path.startsWith(`${prefix}/`);
      if (inApi) {
        res.setHeader('cache-control', 'no-store');
        if (await this.api.answer(req, res, observed, target)) return;
      }
      this.app(req as Request, res as Response, (error: unknown) => this.fail(error, req, res, observed.requestId));
    } catch (error) {
      compressing(req, res, () => this.fail(error, req, res, observed.requestId));
    }
  }

  /** Public on the same port, as documented: health and metrics name no tenant and no object. */
  private mountOperations(): void {
    this.app.get('/api/docs', (_req, res) => void res.type('html').send(this.documents().html));
    this.app.get('/api/docs/style.css', (_req, res) => void res.type('css').send(apiDocsStyle));
    this.app.get(
      '/health',
      (_req, res) => void res.json({ status: 'healthy', instance: this.instance, build: buildVersion }),
    );
    this.app.get('/health/deep', (_req, res, next) => {
      this.health
        .report()
        .then((report) => void res.status(report.status === 'unhealthy' ? 503 : 200).json(report), next);
    });
    this.app.get('/metrics', (_req, res, next) => {
      this.metrics.registry.metrics().then((text) => void res.type(this.metrics.registry.contentType).send(text), next);
    });
  }

  private documents(): { openapi: OpenApiDocument; json: string; html: string } {
    if (!this.document) {
      const openapi = openApiDocument(this.routes, buildVersion);
      this.document = { openapi, json: JSON.stringify(openapi), html: apiDocsPage(openapi) };
    }
    return this.document;
  }

  private fail(error: unknown, req: IncomingMessage, res: ServerResponse, requestId: string): void {
    const path = (req.url ?? '/').split('?', 1)[0] ?? '/';
    const known = problemOf(error);
    if (!known) this.log.error({ err: error, requestId, method: req.method, path }, 'a request failed unexpectedly');
    else if (known.status >= 500 || !(error instanceof Problem))
      this.log.warn({ err: error, requestId, code: known.code }, 'a request was refused');
    const problem =
      known ??
      new Problem({
        status: 500,
        code: 'internal_error',
        detail: `Something failed here. Ask your operator, with the request id ${requestId}.`,
      });
    sendProblem(res, problem, path, requestId);
  }

  /**
   * What Node's parser refused never reaches the application: headers over 16 KiB (431), and what is not HTTP (400).
   */
  private refuseUnparsed(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET' || !socket.writable || !this.guard.isSecure(socket)) {
      socket.destroy();
      return;
    }
    const status = unparsedStatus(error.code);
    const problem =
      status === 431
        ? new Problem({ status, code: 'headers_too_large', detail: 'The headers are larger than 16 KiB.' })
        : new Problem({
            status,
            code: 'malformed_request',
            detail: 'This is not a valid HTTP request.',
          });
    const body = JSON.stringify(problemDocument(problem, '/', randomUUID()));
    const headers = {
      ...problemHeaders(problem),
      connection: 'close',
      'content-length': String(Buffer.byteLength(body)),
    };
    lastAnswer(
      socket,
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Error'}\r\n${Object.entries(headers)
        .map(([n, v]) => `${n}: ${v}`)
        .join('\r\n')}\r\n\r\n${body}`,
    );
  }
}
