import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Access } from '../../auth/access';
import { Authenticator, type ProjectRef } from '../../auth/authenticator';
import { BearerAuthentication } from '../../auth/bearer-authentication';
import { PermissionCatalogue } from '../../auth/permissions/permission-catalogue';
import { allowedGlobally, tokenAllows, type Permission } from '../../auth/permissions/permissions';
import { credentialOf, type Principal } from '../../auth/principal';
import { endProblem } from '../../auth/channels/channel-end';
import { type Channel, Channels } from '../../auth/channels/channels';
import { Config } from '../../config/config';
import { MasterKey } from '../../crypto/master-key';
import { Database } from '../../db/database';
import type { Op } from '../../db/rows/op';
import { forbidden, Problem } from '../../errors/problem';
import { Logging } from '../../telemetry/logging';
import { answerShape, unfit } from './answer-shape';
import type { Asked } from './asked';
import { CursorSeal } from './cursor-seal';
import { ref } from './fields';
import { IdempotencyRepository, type KeptAnswer, type KeyedRequest } from './idempotency.repository';
import { jsonBodyReader } from './json-body';
import { endCompressed } from '../server/compressed';
import { sendProblem } from '../problems/problem-document';
import { isRetryable } from '../problems/problem-mapping';
import { ReplyMarker, type Route, statusesOf, type RouteRequest } from './route';
import { parsePart } from './validation';

type Spec = Route['spec'];
interface Run {
  route: Route;
  /** Of the route's answers. */
  shape: ReturnType<typeof answerShape>;
  requestOf: (op: Op) => RouteRequest<unknown, unknown, unknown>;
  keyed: KeyedRequest | undefined;
  requestId: string;
  cursors: CursorSeal | undefined;
}
interface Granted {
  access: Access;
  project?: ProjectRef;
}

const noKeys = z.strictObject({});
const namedProject = z.object({ project: ref });
/** Scopes of routes that take `?project=`. */
const projectScopes: ReadonlySet<string> = new Set(['project', 'collection', 'resource']);
const methodsThatChange = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** True when the handler runs in the server's transaction. */
const isTransactional = (spec: Spec): boolean =>
  methodsThatChange.has(spec.method) && !spec.ownTransaction && !spec.rawBody;

/** True when the route honours `Idempotency-Key`. */
export const isKeyed = (spec: Spec): boolean => isTransactional(spec) && spec.scope !== 'public';

/** Uploads, and answers that are held until something has happened. */
const lasts = (spec: Spec, query: unknown): boolean => {
  if (spec.rawBody) return true;
  return (
    typeof query === 'object' && query !== null && 'wait' in query && typeof query.wait === 'number' && query.wait > 0
  );
};

/**
 * Runs one route: identity, permission, validation, transaction, answer; in this order, so that a stranger learns
 * nothing from validation.
 */
@injectable()
export class RouteRunner {
  private readonly log: Logger;
  private readonly readJson: (req: IncomingMessage, res: ServerResponse) => Promise<unknown>;

  constructor(
    config: Config,
    logging: Logging,
    private readonly authentication: BearerAuthentication,
    private readonly authenticator: Authenticator,
    private readonly database: Database,
    private readonly idempotency: IdempotencyRepository,
    private readonly channels: Channels,
    private readonly masterKey: MasterKey,
    private readonly permissions: PermissionCatalogue,
  ) {
    this.log = logging.for('http');
    this.readJson = jsonBodyReader(config.core.limits.body, config.core.limits.bodyMs);
  }

  /** Answers the requests of a route. Rejects with what `Problem`s are made of. */
  handler(route: Route): (asked: Asked) => Promise<void> {
    let shape: Run['shape'] | undefined;
    return (asked) => {
      shape ??= answerShape(route.spec.response);
      return this.run(route, shape, asked);
    };
  }

  private async run(route: Route, shape: Run['shape'], asked: Asked): Promise<void> {
    const { spec } = route;
    const { req, res, requestId } = asked;
    const principal = spec.scope === 'public' ? undefined : await this.authentication.principal(req);
    const { query, projectRef } = this.splitQuery(spec, asked);
    const granted = principal && (await this.authorize(spec, principal, projectRef));
    const params = parsePart('params', spec.params ?? noKeys, asked.params);
    const parsedQuery = parsePart('query', spec.query ?? noKeys, query);
    const cursors = this.cursorsOf(spec, params, parsedQuery, granted?.project);
    const rawBody = spec.rawBody ? undefined : await this.readJson(req, res);
    const body = spec.rawBody ? undefined : this.parseBody(spec, rawBody);
    const requestOf = (op: Op): RouteRequest<unknown, unknown, unknown> => ({
      params,
      query: parsedQuery,
      body,
      requestId,
      op,
      raw: req,
      res,
      remoteAddress: req.socket.remoteAddress ?? '',
      ...(granted?.project && { project: granted.project }),
      // A public route has neither, as its contract says.
      principal: principal as Principal,
      access: granted?.access as Access,
    });
    const keyed = principal && this.keyOf(spec, req, principal, rawBody);
    const channel =
      principal && granted && lasts(spec, parsedQuery) ? await this.hold(spec, principal, granted, asked) : undefined;
    const answer = await this.answered({ route, shape, requestOf, keyed, requestId, cursors }).finally(channel?.close);
    if (res.headersSent || res.destroyed) return;
    if (spec.secretResponse) res.setHeader('cache-control', 'no-store, no-transform');
    for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
    if (answer.replayed) res.setHeader('idempotency-replayed', 'true');
    res.statusCode = answer.status;
    if (answer.body === null) {
      res.end();
      return;
    }
    if (!res.hasHeader('content-type')) res.setHeader('content-type', 'application/json; charset=utf-8');
    if (spec.secretResponse) res.end(answer.body);
    else endCompressed(req, res, answer.body);
  }

  /** A request that lasts ends at once when the caller's right to it does. */
  private hold(
    spec: Spec,
    principal: Principal,
    granted: Granted,
    { req, res, path, requestId }: Asked,
  ): Promise<Channel> {
    const allows = (now: Principal): boolean => {
      if (spec.scope === 'self') return spec.permission === undefined || tokenAllows(now, spec.permission);
      if (!spec.permission || !tokenAllows(now, spec.permission)) return false;
      if (spec.scope === 'global') return allowedGlobally(now, spec.permission);
      const access = this.permissions.access(now, spec.permission);
      return granted.access.asserted.every((id) => access.allows(id));
    };
    return this.channels.open(
      { kind: spec.rawBody ? 'upload' : 'wait', credential: credentialOf(principal), allows, patient: true },
      {
        end: (code) => {
          // A server that stops lets requests end.
          if (code === 'server_stops') return;
          const problem = endProblem(code);
          // An answered request is not told that its connection is gone; whoever reads its body would wait for ever.
          req.socket.once('close', () => req.destroy(problem));
          if (!res.headersSent) res.setHeader('connection', 'close');
          sendProblem(res, problem, path, requestId);
        },
      },
    );
  }

  /** `?project=` steers the scope; it reaches the handler's query only where the route's own schema names it. */
  private splitQuery(
    spec: Spec,
    { search }: Asked,
  ): { query: Record<string, unknown>; projectRef: string | undefined } {
    if (search === '') return { query: {}, projectRef: undefined };
    const given = parseQuery(search);
    const query: Record<string, unknown> = Object.fromEntries(Object.entries(given));
    if (Object.hasOwn(given, '__proto__')) Object.defineProperty(query, '__proto__', { value: '', enumerable: true });
    if (!projectScopes.has(spec.scope) || query['project'] === undefined) return { query, projectRef: undefined };
    const projectRef = String(
      (parsePart('query', namedProject, { project: query['project'] }) as { project: string }).project,
    );
    const declared = spec.query instanceof z.ZodObject && Object.hasOwn(spec.query.shape, 'project');
    if (!declared) delete query['project'];
    return { query, projectRef };
  }

  private async authorize(spec: Spec, principal: Principal, projectRef: string | undefined): Promise<Granted> {
    const permission: Permission = spec.permission ?? 'self:any';
    if (spec.scope === 'self') {
      // An API token with a list of its own does only what the list says: it may look at itself, and change nothing
      // unlisted.
      const listed = spec.permission
        ? tokenAllows(principal, spec.permission)
        : principal.tokenScopes === null || !methodsThatChange.has(spec.method);
      if (!listed)
        throw spec.permission
          ? forbidden(spec.permission)
          : new Problem({
              status: 403,
              code: 'forbidden',
              detail: 'This needs a session, or an API token without restrictions.',
            });
      return { access: this.permissions.access(principal, permission) };
    }
    // A token's own list holds everywhere, whatever else its owner may see.
    if (!tokenAllows(principal, permission)) throw forbidden(permission);
    if (spec.scope === 'global') {
      if (!allowedGlobally(principal, permission)) throw forbidden(permission);
      return { access: this.permissions.access(principal, permission) };
    }
    if (spec.scope === 'project' || (spec.scope === 'collection' && projectRef !== undefined)) {
      const project = await this.authenticator.resolveProject(principal, projectRef);
      const access = this.permissions.access(principal, permission, project.id);
      access.assert(project.id, 'project', projectRef ?? project.name);
      return { access, project };
    }
    const access = this.permissions.access(principal, permission);
    // The object's own project decides; a named one only says where a name is looked up.
    return projectRef === undefined
      ? { access }
      : { access, project: await this.authenticator.resolveProject(principal, projectRef) };
  }

  private parseBody(spec: Spec, raw: unknown): unknown {
    if (spec.body) return parsePart('body', spec.body, raw);
    return raw === undefined ? undefined : (parsePart('body', noKeys, raw), undefined);
  }

  private keyOf(spec: Spec, req: IncomingMessage, principal: Principal, body: unknown): KeyedRequest | undefined {
    const key = req.headers['idempotency-key'];
    if (key === undefined || !isKeyed(spec)) return undefined;
    if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
      throw new Problem({
        status: 400,
        code: 'invalid_idempotency_key',
        detail: 'Idempotency-Key must be 1 to 255 printable ASCII characters without blanks.',
      });
    }
    return { principalId: principal.id, key, method: spec.method, path: req.url ?? '', body: body ?? null };
  }

  /** For lists: opens the cursor that was given, in place, and seals the next one. */
  private cursorsOf(
    spec: Spec,
    params: unknown,
    query: unknown,
    project: ProjectRef | undefined,
  ): CursorSeal | undefined {
    if (
      !(spec.query instanceof z.ZodObject) ||
      !Object.hasOwn(spec.query.shape, 'cursor') ||
      typeof query !== 'object' ||
      query === null
    )
      return undefined;
    const seal = new CursorSeal(this.masterKey, { path: spec.path, params, query, project: project?.id });
    if ('cursor' in query && typeof query.cursor === 'string') query.cursor = seal.open(query.cursor);
    return seal;
  }

  private async answered(run: Run): Promise<KeptAnswer & { replayed: boolean }> {
    if (isTransactional(run.route.spec)) return this.inTransaction(run);
    return { ...(await this.answer(run, run.requestOf(this.database.requestOp))), replayed: false };
  }

  /** A transaction that lost against another one is run once more, from its beginning. */
  private async inTransaction(run: Run): Promise<KeptAnswer & { replayed: boolean }> {
    const { route, requestOf, keyed, requestId } = run;
    const attempt = (): Promise<KeptAnswer & { replayed: boolean }> =>
      this.database.tx(async (op) => {
        const request = requestOf(op);
        if (!keyed) return { ...(await this.answer(run, request)), replayed: false };
        const claim = await this.idempotency.claim(op, keyed);
        if (claim.kind === 'reused') {
          throw new Problem({
            status: 422,
            code: 'idempotency_key_reused',
            detail: 'This Idempotency-Key was used for another request. Take a new one.',
          });
        }
        if (claim.kind === 'replay') {
          // What the first request was granted, this caller must have now.
          const [noun = 'object'] = (route.spec.permission ?? '').split(':');
          for (const project of claim.granted)
            request.access.assert(
              project,
              noun,
              Object.values((request.params as Record<string, string> | undefined) ?? {}).at(-1) ?? '',
            );
          return { ...claim.answer, replayed: true };
        }
        const answer = await this.answer(run, request);
        await this.idempotency.keep(op, keyed, answer, request.access.asserted, route.spec.secretResponse === true);
        return { ...answer, replayed: false };
      }, this.database.requestOp);
    try {
      return await attempt();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      this.log.info(
        { err: error, requestId, route: route.spec.path },
        'a transaction lost against another one and is run again',
      );
      return attempt();
    }
  }

  /**
   * Runs the handler. What it returns passes the response schema, so that no member leaves that the contract does not
   * name.
   */
  private async answer(
    { route, shape, cursors }: Run,
    request: RouteRequest<unknown, unknown, unknown>,
  ): Promise<KeptAnswer> {
    const { spec } = route;
    const returned = await route.handle(request);
    const broken = (how: string): Error =>
      new Error(`the answer of ${spec.method} ${spec.path} breaks its contract: ${how}`);
    if (spec.scope === 'resource' && isTransactional(spec) && request.access.asserted.length === 0)
      throw broken('the handler did not ask whether the caller may');
    const made = returned instanceof ReplyMarker ? returned.value : { body: returned };
    const statuses = statusesOf(spec);
    const status = made.status ?? (made.body === undefined && statuses.includes(204) ? 204 : statuses[0]);
    const headers = made.headers ?? {};
    if (request.res.headersSent || request.res.destroyed) return { status, headers, body: null };
    if (!(statuses as readonly number[]).includes(status)) throw broken(`it does not say that it may be ${status}`);
    if (status === 204) return { status, headers, body: null };
    const shown = shape(made.body);
    if (shown === unfit)
      throw broken(
        (spec.response.safeParse(made.body).error?.issues ?? [])
          .map((i) => `${i.path.join('.')}: ${i.message}`)
          .slice(0, 10)
          .join('; '),
      );
    return { status, headers, body: JSON.stringify(withCursor(shown, cursors)) };
  }
}

const withCursor = (body: unknown, cursors: CursorSeal | undefined): unknown =>
  cursors && typeof body === 'object' && body !== null && 'next' in body && typeof body.next === 'string'
    ? { ...body, next: cursors.seal(body.next) }
    : body;
