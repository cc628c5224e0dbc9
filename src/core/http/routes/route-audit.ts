import { z } from 'zod';
import type { PermissionCatalogue } from '../../auth/permissions/permission-catalogue';
import { type Route, statusesOf } from './route';

const paramsOf = (path: string): string[] => [...path.matchAll(/:([A-Za-z0-9_]+)/g)].map((m) => m[1] ?? '');

const secretName = /^(.*[a-z])?(token|secret|password|ticket|privatekey|otp)$/i;

/** Names of members that sound like a secret's, at any depth. */
const secretsOf = (schema: z.ZodType): string[] => {
  const found = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties } = node as { properties?: Record<string, unknown> };
    for (const name of Object.keys(properties ?? {})) if (secretName.test(name)) found.add(name);
    for (const child of Object.values(node)) visit(child);
  };
  visit(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }));
  return [...found];
};

const problemsOf = ({ spec }: Route, permissions: Pick<PermissionCatalogue, 'has'>): string[] => {
  const problems: string[] = [];
  if (!/^(\/(:?[A-Za-z0-9_.-]+))+$/.test(spec.path))
    problems.push('the path must be segments of plain characters or :params');
  if (spec.permission !== undefined && !/^[a-z][a-z-]*:[a-z][a-z-]*$/.test(spec.permission))
    problems.push(`"${spec.permission}" is no permission`);
  else if (spec.permission !== undefined && !permissions.has(spec.permission))
    problems.push(`no module declares the permission "${spec.permission}"`);
  if (spec.scope === 'public' || spec.scope === 'self') {
    if (!spec.reason) problems.push(`a route of scope ${spec.scope} must say why, in "reason"`);
  } else if (!spec.permission) problems.push('no permission');
  const declared = spec.params instanceof z.ZodObject ? Object.keys(spec.params.shape) : [];
  const used = paramsOf(spec.path);
  for (const name of used) if (!declared.includes(name)) problems.push(`the parameter :${name} has no schema`);
  for (const name of declared)
    if (!used.includes(name)) problems.push(`the schema names the parameter ${name}, the path does not`);
  if (spec.method === 'GET' && spec.body) problems.push('a GET takes no body');
  if (spec.rawBody && spec.body) problems.push('a raw body has no schema');
  const secrets = secretsOf(spec.response);
  if (secrets.length > 0 && !spec.secretResponse)
    problems.push(`its answer has ${secrets.join(', ')}: say that it holds a secret, or call it otherwise`);
  if (new Set(statusesOf(spec)).size !== statusesOf(spec).length) problems.push('a status is there twice');
  return problems;
};

/**
 * Refuses to start with a route that anyone may call by oversight, or that could not be told from another one.
 * Throws an error that names every bad route.
 */
export const auditRoutes = (routes: readonly Route[], permissions: Pick<PermissionCatalogue, 'has'>): void => {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const route of routes) {
    const name = `${route.spec.method} ${route.spec.path}`;
    const key = `${route.spec.method} ${route.spec.path.replace(/:[A-Za-z0-9_]+/g, ':')}`;
    if (seen.has(key)) problems.push(`${name}: there are two of it`);
    seen.add(key);
    problems.push(...problemsOf(route, permissions).map((problem) => `${name}: ${problem}`));
  }
  if (problems.length > 0)
    throw new Error(`routes are not fit to be served:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
};
