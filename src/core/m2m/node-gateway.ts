import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { Config } from '../config/config';
import { Database } from '../db/database';
import { Problem } from '../errors/problem';
import { ConnectionGuard, endWithUnreadBody, guardedOptions } from '../http/connection-guard';
import { targetOf } from '../http/request-target';
import { SecretLimiter } from '../http/secret-limiter';
import { Logging } from '../telemetry/logging';
import { CertificateAuthority } from './ca/certificate-authority';
import { ServerIdentity } from './ca/server-identity';
import { heartbeatBody, nodeAddress } from './heartbeat';
import { BodyError, readJson, sendJson } from './json-body';
import { ManagementEndpoint } from './management-endpoint';
import { type Enrolled, NodeRegistry } from './node-registry';
import type { NodeRoute, NodeRoutes } from './node-route';
import { minVersion } from './node/secure-context';
import type { ObservedSink } from './observed';
import { PathPattern } from './path-pattern';
import { peerOf } from './peer-identity';
import { standingBody, TaskStanding } from './task-standing';
import { VerbEvents } from './verb-events';

const enrolBody = z.object({
  ticket: z.string().min(1).max(200),
  csr: z.string().min(1).max(10_000),
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$/,
      'a host name: letters, digits, dots and hyphens, at most 63 characters',
    ),
  address: nodeAddress,
  port: z.number().int().min(1).max(65_535),
});
const renewBody = z.object({ csr: z.string().min(1).max(10_000) });
const eventKey = z.string().min(1).max(300);
/** Of events that this build knows. */
const nodeEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('verb.done'), key: eventKey }),
  z.object({
    type: z.literal('progress'),
    key: eventKey,
    percent: z.number().min(0).max(100),
    message: z.string().max(500),
  }),
]);
const knownEvents: ReadonlySet<string> = new Set(nodeEvent.options.map((event) => event.shape.type.value));
const isKnown = (event: unknown): boolean =>
  knownEvents.has(String((event as { type?: unknown } | null | undefined)?.type));
/** Others come from newer agents, who can do without an answer to them. */
const eventsBody = z.object({
  events: z
    .array(z.unknown())
    .max(500)
    .transform((all) => all.filter(isKnown))
    .pipe(z.array(nodeEvent)),
});

const smallBody = 64 * 1024;
/** Everything that a host reports at once, after a reconnect. */
const heartbeatLimit = 16 * 1024 * 1024;
const refreshRevokedMs = 2_000;
const purgeEveryMs = 3_600_000;
/** A connection on which nothing moves for so long ends. */
const silentMs = 120_000;

/** Port 8445: nodes to management. Mutual TLS but for enrolment; who a node is comes from its certificate alone. */
@injectable()
export class NodeGateway {
  private readonly log: Logger;
  private readonly routes: { pattern: PathPattern; route: NodeRoute }[] = [];
  private readonly sinks = new Map<string, ObservedSink>();
  /** Connections of hosts, with the serial of their certificate. */
  private readonly checked = new Map<TLSSocket, string>();
  /** The heartbeat at work per host: the next one waits, so sections are taken in the order they were sent. */
  private readonly beating = new Map<string, Promise<unknown>>();
  private server: Server | undefined;
  private timers: NodeJS.Timeout[] = [];

  constructor(
    private readonly registry: NodeRegistry,
    private readonly events: VerbEvents,
    private readonly authority: CertificateAuthority,
    private readonly identity: ServerIdentity,
    private readonly endpoint: ManagementEndpoint,
    private readonly standing: TaskStanding,
    private readonly database: Database,
    private readonly config: Config,
    private readonly limiter: SecretLimiter,
    logging: Logging,
  ) {
    this.log = logging.for('gateway');
    identity.onChange(() => this.useIdentity());
    authority.onRevoked((removed) => {
      for (const [socket, serial] of this.checked) if (removed.has(serial)) socket.destroy();
    });
  }

  /** Before `start`. Throws when a path or a section is there twice. */
  register(nodeRoutes: NodeRoutes[], sinks: ObservedSink[]): void {
    for (const route of nodeRoutes.flatMap((r) => r.nodeRoutes())) {
      if (this.routes.some((r) => r.route.method === route.method && r.route.path === route.path))
        throw new Error(`the node route ${route.method} ${route.path} is there twice`);
      this.routes.push({ pattern: new PathPattern(`/node${route.path}`), route });
    }
    for (const sink of sinks) {
      if (this.sinks.has(sink.section)) throw new Error(`the section "${sink.section}" has two sinks`);
      this.sinks.set(sink.section, sink);
    }
  }

  /** Returns the bound port. */
  async start(): Promise<number> {
    await this.identity.start();
    await this.authority.refreshRevoked();
    const { limits } = this.config.core;
    const server = createServer(
      {
        ...guardedOptions(limits),
        requestTimeout: limits.bodyMs,
        requestCert: true,
        rejectUnauthorized: false,
        minVersion,
      },
      (req, res) => void this.answer(req, res),
    );
    server.timeout = silentMs;
    new ConnectionGuard(server, limits);
    server.prependListener('request', endWithUnreadBody);
    server.on('tlsClientError', (error) => this.log.debug({ err: error }, 'a connection was refused'));
    this.server = server;
    this.useIdentity();
    const { listen, nodePort } = this.config.core.management;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(nodePort, listen, () => {
        server.removeListener('error', reject);
        resolve();
      });
    });
    const { port } = server.address() as AddressInfo;
    this.endpoint.bound(port);
    const quietly = (work: () => Promise<void>) => () =>
      void work().catch((error: unknown) => this.log.warn({ err: error }, 'the certificate list could not be read'));
    this.timers = [
      setInterval(
        quietly(() => this.authority.refreshRevoked()),
        refreshRevokedMs,
      ),
      setInterval(
        quietly(() => this.authority.purgeExpired()),
        purgeEveryMs,
      ),
    ];
    for (const timer of this.timers) timer.unref();
    return port;
  }

  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.identity.stop();
    const server = this.server;
    this.server = undefined;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const force = setTimeout(() => server.closeAllConnections(), 3_000);
    await closed;
    clearTimeout(force);
    await Promise.allSettled(this.beating.values());
  }

  private useIdentity(): void {
    const { chain, key, root } = this.identity.current();
    this.server?.setSecureContext({ cert: chain, key, ca: root, minVersion });
  }

  private async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      const { path } = targetOf(req);
      const post = req.method === 'POST';
      if (post && path === '/node/enroll') return sendJson(res, 200, await this.enrol(req));
      const hostId = await this.authenticate(req);
      if (post && path === '/node/renew')
        return sendJson(
          res,
          200,
          await this.registry.renew(hostId, parse(renewBody, await readJson(req, smallBody)).csr),
        );
      if (post && path === '/node/heartbeat')
        return sendJson(res, 200, await this.heartbeat(hostId, await readJson(req, heartbeatLimit)));
      if (post && path === '/node/tasks')
        return sendJson(res, 200, {
          live: await this.standing.live(parse(standingBody, await readJson(req, heartbeatLimit)).tasks),
        });
      if (post && path === '/node/events')
        return sendJson(res, 200, await this.takeEvents(hostId, await readJson(req, heartbeatLimit)));
      await this.dispatch(req, res, path, hostId);
    } catch (error) {
      this.fail(req, res, error);
    }
  }

  private async enrol(req: IncomingMessage): Promise<Enrolled> {
    const body = parse(enrolBody, await readJson(req, smallBody));
    try {
      return await this.registry.enroll(body);
    } catch (error) {
      if (error instanceof Problem && error.status === 401) await this.limiter.failed(req.socket.remoteAddress ?? '');
      throw error;
    }
  }

  private async dispatch(req: IncomingMessage, res: ServerResponse, path: string, hostId: string): Promise<void> {
    for (const { pattern, route } of this.routes) {
      const params = route.method === req.method ? pattern.match(path) : null;
      if (params) return route.handle({ hostId, params, raw: req, res });
    }
    throw new Problem({ status: 404, code: 'not_found', detail: 'There is no such path.' });
  }

  /**
   * The host of the client certificate. The database is asked once per connection, the list in memory at each further
   * request.
   */
  private async authenticate(req: IncomingMessage): Promise<string> {
    const socket = req.socket as TLSSocket;
    const peer = peerOf(socket);
    if (peer?.identity?.kind !== 'host')
      throw new Problem({
        status: 401,
        code: 'certificate_required',
        detail: 'This needs the certificate of an enrolled host of this installation.',
      });
    const { identity, serial } = peer;
    const revoked = this.checked.has(socket)
      ? this.authority.isListedRevoked(serial)
      : !(await this.authority.admits(serial));
    if (revoked)
      throw new Problem({
        status: 403,
        code: 'certificate_revoked',
        detail: 'The certificate of this host was revoked: the host was removed, or has a newer one. Enrol it anew.',
      });
    if (!this.checked.has(socket) && !socket.destroyed) {
      this.checked.set(socket, serial);
      socket.once('close', () => this.checked.delete(socket));
    }
    return identity.hostId;
  }

  private async heartbeat(hostId: string, json: unknown): Promise<{ refused: Record<string, string> }> {
    const body = parse(heartbeatBody, json);
    if (body.hostId !== hostId)
      throw new Problem({
        status: 403,
        code: 'wrong_identity',
        detail: 'The heartbeat is of another host than the certificate.',
      });
    const before = this.beating.get(hostId) ?? Promise.resolve();
    const work = before.then(
      () => this.takeBeat(hostId, body),
      () => this.takeBeat(hostId, body),
    );
    this.beating.set(hostId, work);
    try {
      return { refused: await work };
    } finally {
      if (this.beating.get(hostId) === work) this.beating.delete(hostId);
    }
  }

  private async takeBeat(hostId: string, body: z.infer<typeof heartbeatBody>): Promise<Record<string, string>> {
    const { boot, seq, time, endpoint, agentVersion } = body;
    const outcome = await this.registry.heartbeat(hostId, { boot, seq, time, endpoint, agentVersion });
    if (outcome === 'unknown')
      throw new Problem({ status: 404, code: 'unknown_host', detail: 'This host was removed.' });
    const refused: Record<string, string> = {};
    if (outcome === 'stale') return refused;
    for (const [section, data] of Object.entries(body.sections)) {
      const reason = await this.takeSection(hostId, section, data);
      if (reason !== undefined) refused[section] = reason;
    }
    return refused;
  }

  /**
   * Why it was not taken. Each section has its own transaction: a bad one costs neither the others nor the sign of
   * life.
   */
  private async takeSection(hostId: string, section: string, data: unknown): Promise<string | undefined> {
    const sink = this.sinks.get(section);
    if (!sink) return 'unknown_section';
    const parsed = sink.schema.safeParse(data);
    if (!parsed.success) {
      this.log.warn(
        { hostId, section, issues: parsed.error.issues.slice(0, 5) },
        'a section of a heartbeat is not valid',
      );
      return `invalid: ${parsed.error.issues
        .slice(0, 3)
        .map((i) => `${i.path.join('.')}: ${i.message}`)
        .join('; ')}`;
    }
    try {
      await this.database.tx((op) => sink.accept(op, hostId, parsed.data));
      return undefined;
    } catch (error) {
      this.log.error({ hostId, section, err: error }, 'a section of a heartbeat could not be stored');
      return 'failed';
    }
  }

  private async takeEvents(hostId: string, json: unknown): Promise<Record<string, never>> {
    for (const event of parse(eventsBody, json).events) {
      if (event.type === 'verb.done') await this.events.onVerbDone(hostId, event.key);
      else await this.events.onProgress(hostId, event.key, event.percent, event.message);
    }
    return {};
  }

  private fail(req: IncomingMessage, res: ServerResponse, error: unknown): void {
    const problem = problemOf(error);
    if (problem.status >= 500) this.log.error({ path: req.url, err: error }, 'a request of a node failed');
    if (res.headersSent) {
      res.destroy();
      return;
    }
    sendJson(res, problem.status, {
      type: 'about:blank',
      status: problem.status,
      code: problem.code,
      detail: problem.detail,
      errors: problem.errors,
    });
  }
}

const parse = <T>(schema: z.ZodType<T>, json: unknown): T => {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues
    .slice(0, 20)
    .map((i) => ({ path: `body.${i.path.join('.')}`, code: i.code, message: i.message }));
  throw new Problem({
    status: 400,
    code: 'invalid_request',
    detail: `The request is not valid: ${errors.map((e) => `${e.path}: ${e.message}`).join('; ')}`,
    errors,
  });
};

const problemOf = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  if (error instanceof BodyError)
    return new Problem({ status: error.code === 'too_large' ? 413 : 400, code: error.code, detail: error.message });
  return new Problem({ status: 500, code: 'internal', detail: 'Management could not do this.', cause: error });
};
