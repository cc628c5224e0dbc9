import { z } from 'zod';
import { PermissionCatalogue } from '../../auth/permissions/permission-catalogue';
import { route, type Route } from './route';
import { auditRoutes } from './route-audit';

const make = (over: Partial<Route['spec']>): Route =>
  route(
    {
      method: 'GET',
      path: '/a',
      summary: 's',
      tag: 't',
      scope: 'global',
      permission: 'host:read',
      response: z.object({}),
      ...over,
    } as Route['spec'],
    async () => ({}),
  );

const permissions = new PermissionCatalogue({ 'host:read': 'admin' });

describe('auditRoutes', () => {
  it('passes what is complete', () => {
    expect(() =>
      auditRoutes(
        [
          make({}),
          make({ method: 'POST' }),
          make({ path: '/a/:id', params: z.strictObject({ id: z.string() }) }),
          make({ path: '/p', scope: 'public', reason: 'login', permission: undefined as never }),
        ],
        permissions,
      ),
    ).not.toThrow();
  });

  it.each<[string, Partial<Route['spec']>[], string]>([
    ['a route without permission', [{ permission: undefined as never }], 'no permission'],
    ['a public route without a reason', [{ scope: 'public' }], 'must say why'],
    ['a self route without a reason', [{ scope: 'self' }], 'must say why'],
    ['two of the same', [{}, {}], 'two of it'],
    [
      'two that differ in a parameter name',
      [
        { path: '/a/:x', params: z.strictObject({ x: z.string() }) },
        { path: '/a/:y', params: z.strictObject({ y: z.string() }) },
      ],
      'two of it',
    ],
    ['a parameter without schema', [{ path: '/a/:id' }], ':id has no schema'],
    ['a schema for no parameter', [{ params: z.strictObject({ id: z.string() }) }], 'the path does not'],
    ['a GET with a body', [{ body: z.strictObject({}) }], 'no body'],
    ['a permission that is none', [{ permission: 'Host:read' }], 'is no permission'],
    [
      'a permission that no module declares',
      [{ permission: 'host:fly' }],
      'no module declares the permission "host:fly"',
    ],
    ['a path that is none', [{ path: 'a' }], 'segments'],
  ])('refuses %s', (_, specs, message) => {
    expect(() => auditRoutes(specs.map(make), permissions)).toThrow(message);
  });
});
