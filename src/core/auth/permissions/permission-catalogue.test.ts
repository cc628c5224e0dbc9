import { PermissionCatalogue } from './permission-catalogue';
import type { Principal } from '../principal';

const catalogue = new PermissionCatalogue({
  'thing:read': 'viewer',
  'thing:create': 'member',
  'thing:share': 'project-admin',
  'machine:read': 'admin',
  'machine:enroll': 'admin',
  'token:read': 'everyone',
});
const who = (over: Partial<Principal>): Principal => ({
  kind: 'user',
  id: 'u',
  name: 'u',
  systemRoles: [],
  memberships: [
    { projectId: 'a', role: 'member' },
    { projectId: 'b', role: 'viewer' },
  ],
  sessionId: 's',
  via: 'session',
  tokenScopes: null,
  ...over,
});

it('knows permissions that a module declares, and patterns that cover one', () => {
  expect(
    ['*:*', 'thing:*', '*:read', '*:enroll', 'thing:read', 'machine:enroll'].filter((scope) => !catalogue.knows(scope)),
  ).toEqual([]);
  expect(
    ['nosuch:thing', 'thing:fly', 'nosuch:*', '*:fly', 'machine:fly', 'thing:enroll', ''].filter((scope) =>
      catalogue.knows(scope),
    ),
  ).toEqual([]);
});

it('gives a role what it and every narrower one has, and nothing that is an administrator’s or nobody’s', () => {
  const has = (role: 'viewer' | 'member' | 'project-admin'): string[] =>
    [...catalogue.all(), 'thing:fly', 'nosuch:read'].filter((p) => catalogue.roleAllows(role, p as 'thing:read'));
  expect({ viewer: has('viewer'), member: has('member'), admin: has('project-admin') }).toEqual({
    viewer: ['thing:read'],
    member: ['thing:create', 'thing:read'],
    admin: ['thing:create', 'thing:read', 'thing:share'],
  });
  expect(catalogue.nounsOf('project-admin', 'read')).toEqual(['thing']);
});

it('reaches as far as the memberships, narrowed by the token and by the project that is named', () => {
  expect(catalogue.access(who({}), 'thing:read').projects).toEqual(['a', 'b']);
  expect(catalogue.access(who({}), 'thing:create').projects).toEqual(['a']);
  expect(catalogue.access(who({}), 'thing:create', 'b').projects).toEqual([]);
  expect(catalogue.access(who({ tokenScopes: ['thing:read'] }), 'thing:create').projects).toEqual([]);
  expect(catalogue.access(who({ systemRoles: ['admin'] }), 'thing:create').projects).toBe('all');
  expect(catalogue.access(who({ systemRoles: ['admin'] }), 'thing:create', 'b').projects).toEqual(['b']);
});
