import type { InventoryTable } from '../../m2m/reports/inventory-table';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Access } from '../../auth/access';
import type { ProjectRef } from '../../auth/authenticator';
import type { Permission } from '../../auth/permissions/permissions';
import type { Principal } from '../../auth/principal';
import type { Op } from '../../db/rows/op';

/**
 * What a route's permission is checked against before its handler runs:
 * - `public`: no identity at all (login, health);
 * - `self`: any identity, its own things (whoami, task list of one's projects is `collection`);
 * - `global`: system nouns; the permission must hold globally;
 * - `project`: one project, named by `?project=` (id or name) or the caller's only one; `req.project` is set;
 * - `collection`: all projects in which the permission holds, narrowed by `?project=`; the service filters by
 * `req.access.projects`;
 * - `resource`: one object; the service loads it and calls `req.access.assert(projectId, noun, id)`; `?project=`
 * narrows a name to one project.
 */
type RouteScope = 'public' | 'self' | 'global' | 'project' | 'collection' | 'resource';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type SuccessStatus = 200 | 201 | 202 | 204;

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface RouteSpec<
  P extends z.ZodType | undefined,
  Q extends z.ZodType | undefined,
  B extends z.ZodType | undefined,
  R extends z.ZodType,
> {
  method: Method;
  /** Below `/api/v1`, Express syntax: `/instances/:id`. */
  path: string;
  summary: string;
  tag: string;
  scope: RouteScope;
  /** Required for every scope but `public`. A `public` or `self` route states why in `reason`. */
  permission?: Permission;
  reason?: string;
  params?: P;
  query?: Q;
  body?: B;
  /**
   * Success status and schema; the first of several is what a plain value is answered with. 202 for work that goes on
   * as a task; 204 has no body.
   */
  status?: SuccessStatus | readonly [SuccessStatus, ...SuccessStatus[]];
  response: R;
  /** Raw body as a stream (uploads); no JSON parsing and no body schema. */
  rawBody?: boolean;
  /**
   * A mutating route that is no transaction of its own (it streams, or hashes a password first): the handler opens what
   * it needs, and `op` is not transactional.
   */
  ownTransaction?: boolean;
  /** The answer holds a secret: under an `Idempotency-Key` it is kept sealed, and it is never compressed. */
  secretResponse?: boolean;
  /** Media type of the success answer when the handler writes it to `res` itself; JSON otherwise. */
  produces?: string;
}

export interface RouteRequest<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** Absent on `public` routes only. */
  principal: Principal;
  access: Access;
  /** Set for scope `project`, and for `collection` and `resource` when `?project=` was given. */
  project?: ProjectRef;
  requestId: string;
  /**
   * POST, PUT, PATCH and DELETE run in one transaction, which also holds the `Idempotency-Key` record: all writes of
   * the handler go through it. GET and `ownTransaction` routes get an operation without transaction.
   */
  op: Op;
  raw: IncomingMessage;
  res: ServerResponse;
  remoteAddress: string;
}

export interface Reply<R> {
  status?: number;
  body: R;
  headers?: Record<string, string>;
}

/** Lets a handler set status or headers; a plain value is the body with the route's own status. */
export const reply = <R>(body: R, init: { status?: number; headers?: Record<string, string> } = {}): ReplyMarker<R> =>
  new ReplyMarker({ body, ...init });

export class ReplyMarker<R> {
  constructor(readonly value: Reply<R>) {}
}

/** The success statuses of a route, its usual one first. */
export const statusesOf = ({
  status = 200,
}: Pick<Route['spec'], 'status'>): readonly [SuccessStatus, ...SuccessStatus[]] =>
  typeof status === 'number' ? [status] : status;

/** A route with its types erased, as the server mounts it and the OpenAPI document describes it. */
export interface Route {
  spec: RouteSpec<z.ZodType | undefined, z.ZodType | undefined, z.ZodType | undefined, z.ZodType>;
  handle: (req: RouteRequest<unknown, unknown, unknown>) => Promise<unknown>;
}

/**
 * Declares one REST operation. Schemas validate the request and generate OpenAPI; the handler is called with parsed
 * values only.
 */
export const route = <
  R extends z.ZodType,
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  spec: RouteSpec<P, Q, B, R>,
  handle: (req: RouteRequest<Parsed<P>, Parsed<Q>, Parsed<B>>) => Promise<z.input<R> | ReplyMarker<z.input<R>> | void>,
): Route => ({ spec, handle: handle as Route['handle'] });

/** The project of a request with scope `project`. */
export const projectOf = (req: { project?: ProjectRef }): ProjectRef => {
  if (!req.project) throw new Error('this route has no project: its scope must be `project`');
  return req.project;
};

/** What modules declare and the answers of another one consist of. */
export interface Declared {
  inventory: InventoryTable;
}

/** A controller lists its routes; it parses nothing and knows no ORM. */
export abstract class Controller {
  abstract routes(declared: Declared): Route[];
}
