import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Config } from '../../../config/config';
import { Problem } from '../../../errors/problem';
import { ConnectionGuard, endWithUnreadBody, guardedOptions } from '../../../http/server/connection-guard';
import { targetOf } from '../../../http/server/request-target';
import { Logging } from '../../../telemetry/logging';
import { CertificateAuthority } from '../../ca/certificate-authority';
import { ServerIdentity } from '../../ca/server-identity';
import { BodyError, sendJson } from '../../json-body';
import { ManagementEndpoint } from '../../management-endpoint';
import type { AnonymousNodeRoute, NodeRoute, NodeRoutes } from '../node-route';
import { minVersion } from '../../node/secure-context';
import type { ObservedSink } from '../../reports/observed';
import { PathPattern } from '../path-pattern';
import { peerOf } from '../../peer-identity';
import { EnrolmentRoutes } from './enrolment.routes';
import { HeartbeatRoutes } from './heartbeat.routes';
import { TaskRoutes } from './task.routes';

/** A connection on which nothing moves for so long ends. */
const silentMs = 120_000;

interface RoutePath {
  method: string;
  path: string;
}
interface Registered<R extends RoutePath> {
  pattern: PathPattern;
  route: R;
}

const find = <R extends RoutePath>(
  routes: readonly Registered<R>[],
  req: IncomingMessage,
  path: string,
): { route: R; params: Record<string, string> } | undefined => {
  for (const { pattern, route } of routes) {
    const params = route.method === req.method ? pattern.match(path) : null;
    if (params) return { route, params };
  }
  return undefined;
};

/** Port 8445: nodes to management. Mutual TLS but for enrolment; who a node is comes from its certificate alone. */
@injectable()
export class NodeGateway {
  private readonly log: Logger;
  private readonly routes: Registered<NodeRoute>[] = [];
  private readonly anonymousRoutes: Registered<AnonymousNodeRoute>[] = [];
  /** Connections of hosts, with the serial of their certificate. */
  private readonly checked = new Map<TLSSocket, string>();
  private server: Server | undefined;

  constructor(
    private readonly enrolment: EnrolmentRoutes,
    private readonly heartbeats: HeartbeatRoutes,
    private readonly tasks: TaskRoutes,
    private readonly authority: CertificateAuthority,
    private readonly identity: ServerIdentity,
    private readonly endpoint: ManagementEndpoint,
    private readonly config: Config,
    logging: Logging,
  ) {
    this.log = logging.for('gateway');
    identity.onChange(() => this.useIdentity());
    authority.onRevoked((removed) => {
      for (const [socket, serial] of this.checked) if (removed.has(serial)) socket.destroy();
    });
  }

  /** Before `start`, once. Throws when a path or a section is there twice. */
  register(nodeRoutes: NodeRoutes[], sinks: ObservedSink[]): void {
    this.heartbeats.register(sinks);
    for (const part of [this.enrolment, this.heartbeats, this.tasks, ...nodeRoutes]) {
      for (const route of part.anonymousRoutes?.() ?? []) this.add(this.anonymousRoutes, route);
      for (const route of part.nodeRoutes()) this.add(this.routes, route);
    }
  }

  private add<R extends RoutePath>(to: Registered<R>[], route: R): void {
    if (
      [...this.routes, ...this.anonymousRoutes].some(
        (r) => r.route.method === route.method && r.route.path === route.path,
      )
    )
      throw new Error(`the node route ${route.method} ${route.path} is there twice`);
    to.push({ pattern: new PathPattern(`/node${route.path}`), route });
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
    return port;
  }

  async stop(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const force = setTimeout(() => server.closeAllConnections(), 3_000);
    await closed;
    clearTimeout(force);
    await this.heartbeats.settled();
  }

  private useIdentity(): void {
    const { chain, key, root } = this.identity.current();
    this.server?.setSecureContext({ cert: chain, key, ca: root, minVersion });
  }

  private async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      await this.dispatch(req, res, targetOf(req).path);
    } catch (error) {
      this.fail(req, res, error);
    }
  }

  private async dispatch(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
    const anonymous = find(this.anonymousRoutes, req, path);
    if (anonymous) return anonymous.route.handle({ params: anonymous.params, raw: req, res });
    // Who may not be here learns of no path either.
    const hostId = await this.authenticate(req);
    const found = find(this.routes, req, path);
    if (!found) throw new Problem({ status: 404, code: 'not_found', detail: 'There is no such path.' });
    return found.route.handle({ hostId, params: found.params, raw: req, res });
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

const problemOf = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  if (error instanceof BodyError)
    return new Problem({ status: error.code === 'too_large' ? 413 : 400, code: error.code, detail: error.message });
  return new Problem({ status: 500, code: 'internal', detail: 'Management could not do this.', cause: error });
};
