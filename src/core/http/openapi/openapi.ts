import {
  OpenApiGeneratorV31,
  OpenAPIRegistry,
  type RouteConfig,
  type ZodMediaTypeObject,
} from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { ref } from '../routes/fields';
import { nullableMembers } from '../routes/nullable-members';
import { type Route, statusesOf } from '../routes/route';
import { isKeyed } from '../routes/route-runner';

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;
type Spec = Route['spec'];
type MediaSchema = ZodMediaTypeObject['schema'];

const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string().meta({ description: 'Stable, in snake_case. Branch on this.' }),
    detail: z.string(),
    instance: z.string(),
    requestId: z.string(),
    errors: z
      .array(z.object({ path: z.string().meta({ example: 'body.name' }), code: z.string(), message: z.string() }))
      .optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457. Further members may follow, by code.' });

const scopes: Record<Spec['scope'], string> = {
  public: 'No identity needed.',
  self: 'Any identity, for its own things.',
  global: 'The permission must hold globally.',
  project: 'In one project: ?project= (id or name), or the only one of the caller.',
  collection: 'Over all projects in which the permission holds, or the one of ?project=.',
  resource: 'In the project of the object.',
};

/** The generator knows most of zod; for what it does not, zod's own JSON Schema stands in. */
const mediaSchema = (schema: z.ZodType, io: 'input' | 'output'): MediaSchema => {
  try {
    new OpenApiGeneratorV31([{ type: 'schema', schema }]).generateComponents();
    return schema;
  } catch {
    const { $schema: _, ...plain } = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' });
    return plain as MediaSchema;
  }
};

const querySchema = (spec: Spec): z.ZodObject | undefined => {
  const own = spec.query instanceof z.ZodObject ? spec.query : undefined;
  if (spec.scope !== 'project' && spec.scope !== 'collection' && spec.scope !== 'resource') return own;
  return z.object({ ...own?.shape, project: ref.optional().meta({ description: 'Project by id or name.' }) });
};

const words: Record<number, string> = {
  400: 'Malformed',
  401: 'No valid identity',
  403: 'Not permitted',
  404: 'Not there, or not visible',
  408: 'The body did not come in time',
  409: 'The present state forbids it',
  413: 'The body is too large',
  415: 'The body is of another type or encoding',
  422: 'Not acceptable',
  429: 'Too often, or too many',
  500: 'A fault of the server',
  503: 'Not at the moment: see Retry-After',
  507: 'No room',
};

/** What a route may be refused with. */
const refusalsOf = (spec: Spec): number[] => {
  const body = spec.body !== undefined || spec.rawBody === true;
  const changes = spec.method !== 'GET';
  return [
    400,
    ...(spec.scope === 'public' ? [401] : [401, 403]),
    404,
    409,
    ...(body || changes ? [408, 413, 415] : []),
    422,
    429,
    500,
    503,
    ...(spec.rawBody ? [507] : []),
  ];
};

const operation = (spec: Spec): RouteConfig => {
  const query = querySchema(spec);
  const headers = isKeyed(spec)
    ? z.object({
        'Idempotency-Key': z
          .string()
          .min(1)
          .max(255)
          .regex(/^[\x21-\x7e]+$/)
          .optional()
          .meta({ description: 'The same key with the same request gives the first answer again, for 24 hours.' }),
      })
    : undefined;
  const lines = [
    scopes[spec.scope],
    spec.permission && `Permission: \`${spec.permission}\`.`,
    spec.reason &&
      `${spec.reason[0]?.toUpperCase() ?? ''}${spec.reason.slice(1)}${spec.reason.endsWith('.') ? '' : '.'}`,
  ];
  const produces = spec.produces ?? 'application/json';
  const content = {
    [produces]: { schema: spec.produces ? ({ type: 'string' } as MediaSchema) : mediaSchema(spec.response, 'output') },
  };
  return {
    method: spec.method.toLowerCase() as 'get',
    path: spec.path.replace(/:([A-Za-z0-9_]+)/g, '{$1}'),
    operationId: `${spec.method.toLowerCase()}${spec.path.replace(/[:/_.-]+([A-Za-z0-9])/g, (_, c: string) => c.toUpperCase())}`,
    summary: spec.summary,
    description: lines.filter(Boolean).join(' '),
    tags: [spec.tag],
    security: spec.scope === 'public' ? [] : [{ bearer: [] }],
    ...(spec.permission && { 'x-permission': spec.permission }),
    'x-scope': spec.scope,
    ...(spec.secretResponse && { 'x-secret': true }),
    request: {
      ...(spec.params instanceof z.ZodObject && { params: spec.params }),
      ...(query && { query }),
      ...(headers && { headers }),
      ...(spec.body && {
        body: {
          required: !spec.body.safeParse(undefined).success,
          content: { 'application/json': { schema: mediaSchema(spec.body, 'input') } },
        },
      }),
      ...(spec.rawBody && {
        body: {
          required: true,
          content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } as MediaSchema } },
        },
      }),
    },
    responses: {
      ...Object.fromEntries(
        statusesOf(spec).map((status) => [
          status,
          { description: status === 202 ? 'Accepted; a task goes on' : 'Done', ...(status !== 204 && { content }) },
        ]),
      ),
      ...Object.fromEntries(
        refusalsOf(spec).map((status) => [
          status,
          {
            description: words[status] ?? 'Refused',
            content: { 'application/problem+json': { schema: problemSchema } },
          },
        ]),
      ),
      default: { description: 'Refused', content: { 'application/problem+json': { schema: problemSchema } } },
    },
  } as RouteConfig;
};

/** OpenAPI 3.1 of the routes, from the schemas that validate them. */
export const openApiDocument = (routes: readonly Route[], version: string): OpenApiDocument => {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token (by login) or an API token.',
  });
  for (const { spec } of routes) registry.registerPath(operation(spec));
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'VC Stack',
      version,
      description: 'Projects, networks, volumes and virtual machines. Errors are problem documents (RFC 9457).',
    },
    servers: [{ url: '/api/v1' }],
  });
  for (const path of Object.values(document.paths ?? {})) {
    for (const { requestBody } of Object.values(path) as {
      requestBody?: { content?: Record<string, { schema?: unknown }> };
    }[]) {
      const json = requestBody?.content?.['application/json'];
      if (json) json.schema = nullableMembers(json.schema);
    }
  }
  return document;
};
